import { runAllSteps } from './periodic.ts';

/** A unit that is started and stopped. `create` functions do not listen, `start` does. Its creator must stop it. */
export interface Service {
  start(): Promise<void>;
  /** Idempotent; resolves when everything opened by `start` is closed. */
  stop(): Promise<void>;
}

export interface HealthReport {
  ok: boolean;
  /** By part, for `/readyz?verbose`. */
  checks?: Record<string, boolean | number | string>;
}

/** A service without a start: `stop` calls `close`. */
export function closeOnStop(close: () => Promise<unknown> | unknown): Service {
  return { start: async () => {}, stop: async () => void (await close()) };
}

/** Starts in the given order; when one fails, stops it and those before it, in reverse order. */
export async function startAll(services: Service[]): Promise<void> {
  for (const [index, service] of services.entries()) {
    try {
      await service.start();
    } catch (error) {
      await stopAll(services.slice(0, index + 1)).catch(() => undefined);
      throw error;
    }
  }
}

/** Stops in reverse order, all even if some fail. @throws like `runAllSteps` */
export async function stopAll(services: Service[]): Promise<void> {
  await runAllSteps(services.toReversed().map((service) => () => service.stop()));
}

/** Waits for all, even if one fails. @throws the first failure */
export async function settleAll(promises: Promise<unknown>[]): Promise<void> {
  const failure = (await Promise.allSettled(promises)).find((outcome) => outcome.status === 'rejected');
  if (failure) throw failure.reason;
}

/** Combines parts into a service: started in this order, stopped in reverse. Overlapping calls of `stop` share one run. */
export function inOrder(parts: Service[]): Service {
  let stopping: Promise<void> | undefined;
  return {
    start: () => startAll(parts),
    stop: () => (stopping ??= stopAll(parts).finally(() => (stopping = undefined))),
  };
}
