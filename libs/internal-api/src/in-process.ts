import { asJson, inSpan } from '@taskmesh/service';
import type { Functions, InternalApi } from './define.ts';
import { beginWaiting, gaveUp, type WaitingOptions } from './waiting.ts';
import { fromWireError, toWireError } from './wire-error.ts';

/**
 * Waits for work in this process as for work in another one. `isOver` tells the work that the caller no longer waits.
 * @throws AppError SERVICE_UNAVAILABLE when there is no answer in time
 */
export function answerInTime<Result>(
  { timeoutMs, signal }: Pick<WaitingOptions, 'timeoutMs' | 'signal'>,
  work: (isOver: () => boolean) => Promise<Result>,
): Promise<Result> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(gaveUp('The caller has gone.'));
    let isOver = false;
    const onGivenUp = (error: Error) => {
      isOver = true;
      reject(error);
    };
    const waiting = beginWaiting({ timeoutMs, signal, onGivenUp });
    work(() => isOver).then(
      (result) => {
        waiting.end();
        resolve(result);
      },
      (error: unknown) => {
        waiting.end();
        reject(error);
      },
    );
  });
}

/** Calls in this process, with the same deadlines, JSON values and errors as `createInternalClient` over HTTP. */
export function callInProcess<Api extends Functions<Api>>(definition: InternalApi<Api>, implementation: Api): Api {
  const { service, names, timeoutMs } = definition;
  const call = async (name: keyof Api & string, args: unknown[]) => {
    const given = asJson(args);
    try {
      const result = await answerInTime({ timeoutMs }, () => implementation[name](...given));
      return asJson(result ?? null);
    } catch (error) {
      throw fromWireError(toWireError(error), error);
    }
  };
  const traced = (name: keyof Api & string, args: unknown[]) =>
    inSpan(
      () => ({ name: `${service}.${name}` }),
      () => call(name, args),
      service,
    );
  const functions = names.map((name) => [name, (...args: unknown[]) => traced(name, args)]);
  return Object.fromEntries(functions) as Api; // one function for each name of the definition
}
