/** What is started and stopped as one. `create` does not listen, `start` does; who opens it closes it. */
export interface Service {
  start(): Promise<void>;
  /** Idempotent; resolves when everything that `start` opened is closed. */
  stop(): Promise<void>;
}

/** One thing that the health page tells: whether it works, and if not, why. */
export interface HealthReport {
  ok: boolean;
  /** Part by part, for `/readyz?verbose`. */
  checks?: Record<string, boolean | number | string>;
}

/** Remembers what was opened, and closes it in reverse order: every part is tried, the first failure is thrown at the end. */
export class Closers {
  readonly #closers: (() => Promise<unknown> | unknown)[] = [];

  add(close: () => Promise<unknown> | unknown): void {
    this.#closers.push(close);
  }

  async closeAll(): Promise<void> {
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
}

/** Starts in the given order; when one fails, stops those that had started, in reverse. */
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

/** Stops in reverse order; every one is tried, the first failure is thrown at the end. */
export async function stopAll(services: Service[]): Promise<void> {
  const closers = new Closers();
  for (const service of services) closers.add(() => service.stop());
  await closers.closeAll();
}

/** Parts as one service, which is ready when `ready` says so, but neither before all of them have started nor once it stops. */
export function readyWhenStarted(
  parts: Service[],
  ready: () => Promise<HealthReport>,
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
