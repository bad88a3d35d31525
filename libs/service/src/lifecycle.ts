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

/**
 * Closes everything that was added, in reverse order: it tries all, then throws the first failure. Overlapping calls wait for
 * the same run, because the parts that close last may still be in use. `await using` closes at the end of the block, unless
 * `handOver` was called.
 */
export class Closers {
  #closers: (() => Promise<unknown> | unknown)[] = [];

  add(close: () => Promise<unknown> | unknown): void {
    this.#closers.push(close);
  }

  /** Adds a part to be stopped, and returns it. */
  use<Part extends { stop(): Promise<unknown> | unknown }>(part: Part): Part {
    this.add(() => part.stop());
    return part;
  }

  #closing: Promise<void> | undefined;

  closeAll(): Promise<void> {
    this.#closing ??= this.#closeEach().finally(() => (this.#closing = undefined));
    return this.#closing;
  }

  async #closeEach(): Promise<void> {
    const failures: unknown[] = [];
    for (let close = this.#closers.pop(); close; close = this.#closers.pop()) {
      try {
        await close();
      } catch (error) {
        failures.push(error);
      }
    }
    if (failures.length > 0) throw failures[0];
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.closeAll();
  }

  /** Returns a function that closes everything added so far. From now on, its receiver must call it. */
  handOver(): () => Promise<void> {
    const next = new Closers();
    next.#closers = this.#closers;
    this.#closers = [];
    return () => next.closeAll();
  }
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

/** Stops in reverse order: tries all, then throws the first failure. */
export async function stopAll(services: Service[]): Promise<void> {
  const closers = new Closers();
  for (const service of services) closers.add(() => service.stop());
  await closers.closeAll();
}

/** Waits for all, even if one fails. @throws the first failure */
export async function settleAll(works: Promise<unknown>[]): Promise<void> {
  const failure = (await Promise.allSettled(works)).find((outcome) => outcome.status === 'rejected');
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

/** Combines parts into a service that is ready when `ready` says so, but only between its start and its stop. */
export function readyWhenStarted(
  parts: Service[],
  ready: () => HealthReport | Promise<HealthReport>,
): Service & { ready(): Promise<HealthReport> } {
  let started = false;
  return {
    async start() {
      await startAll(parts);
      started = true;
    },
    stop() {
      started = false;
      return stopAll(parts);
    },
    async ready() {
      const { ok, checks } = await ready();
      return { ok: ok && started, checks: { ...checks, started } };
    },
  };
}
