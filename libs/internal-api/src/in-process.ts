import { unavailable } from '@taskmesh/errors';
import { asJson } from '@taskmesh/service';
import type { Functions, InternalApi } from './define.ts';
import { fromWireError, toWireError } from './wire-error.ts';

export interface Waiting {
  timeoutMs: number;
  signal?: AbortSignal | undefined;
}

/**
 * Waits for work in this process as one waits for another one's: no longer than it may take, and not for a caller that has
 * gone. `isOver` tells the work that nobody waits any more.
 * @throws AppError SERVICE_UNAVAILABLE when there is no answer in time
 */
export function answerInTime<Result>(
  { timeoutMs, signal }: Waiting,
  work: (isOver: () => boolean) => Promise<Result>,
): Promise<Result> {
  return new Promise((resolve, reject) => {
    let isOver = false;
    const end = () => {
      isOver = true;
      clearTimeout(timer);
      signal?.removeEventListener('abort', onAbort);
    };
    const giveUp = (why: string) => {
      end();
      reject(unavailable(undefined, new Error(why)));
    };
    const onAbort = () => giveUp('The caller has gone.');
    const timer = setTimeout(giveUp, timeoutMs, `No answer within ${timeoutMs} ms.`);
    if (signal?.aborted) return onAbort();
    signal?.addEventListener('abort', onAbort);
    work(() => isOver).then(
      (result) => {
        end();
        resolve(result);
      },
      (error: unknown) => {
        end();
        reject(error);
      },
    );
  });
}

/** A service's functions in one process: the same deadlines, values and errors as `createInternalClient` has over HTTP. */
export function callInProcess<Api extends Functions<Api>>(definition: InternalApi<Api>, implementation: Api): Api {
  const { names, timeoutMs } = definition;
  const call = async (name: keyof Api & string, args: unknown[]) => {
    const given = asJson(args);
    try {
      const result = await answerInTime({ timeoutMs }, () => implementation[name](...given));
      return asJson(result ?? null);
    } catch (error) {
      throw fromWireError(toWireError(error), error);
    }
  };
  const functions = names.map((name) => [name, (...args: unknown[]) => call(name, args)]);
  return Object.fromEntries(functions) as Api; // one function for each name of the definition
}
