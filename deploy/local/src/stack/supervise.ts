import { describeError, describeExit, PlainError, type RunningProcess } from '@taskmesh/local-servers';
import { backoffMs, pause } from '@taskmesh/service';
import { setTimeout as sleep } from 'node:timers/promises';

const BACKOFF = { firstMs: 200, maxMs: 5_000 };
/** A process that ran this long counts as healthy: if it dies later, the delays start from the beginning. */
const HEALTHY_AFTER_MS = 10_000;

/** A named process, whose program is restarted when it dies: each run is one life. */
export type Supervised<Life extends RunningProcess = RunningProcess> = Awaited<ReturnType<typeof supervise<Life>>>;

export interface SuperviseOptions<Life> {
  name: string;
  /** Starts the program with the properties of its `previous` life; resolves when it is ready. Aborted by the signal. */
  start: (signal: AbortSignal, previous?: Life) => Promise<Life>;
  /** Whether to restart a program that died by itself. */
  revive: boolean;
  /** How many restarts to try until a life lasts for a while. @default Infinity */
  maxTries?: number;
  log: (line: string) => void;
  /** Aborts a start that is in progress. */
  signal?: AbortSignal | undefined;
  /** Called after every change: up, down, another process id. */
  onChange: () => void;
}

/** Starts a program and keeps it alive from then on. Rejects if the first start fails. */
export async function supervise<Life extends RunningProcess>(options: SuperviseOptions<Life>) {
  const { name, start, revive, maxTries = Infinity, log, signal, onChange } = options;
  const stopped = new AbortController();
  const startSignal = signal ? AbortSignal.any([stopped.signal, signal]) : stopped.signal;
  const { promise: givenUp, resolve: giveUp } = Promise.withResolvers<PlainError>();
  let current = await start(startSignal);
  let isUp = true;
  /** The number of deliberate restarts in progress, during which the program's end is not a failure. */
  let restarts = 0;
  let starting: Promise<void> | undefined;
  let isReviving = false;
  let isRetired = false;
  let tries = 0;

  const watch = (life: Life) => {
    const begin = performance.now();
    void life.exited.then((exit) => {
      isUp = false;
      onChange();
      if (isRetired || restarts > 0) return;
      if (performance.now() - begin > HEALTHY_AFTER_MS) tries = 0;
      const isTriedAgain = revive && tries < maxTries;
      log(
        `${name} ended (${describeExit(exit)})${isTriedAgain ? `, restarting it in ${delayMs()} ms` : ''}. Log: ${life.logFile}`,
      );
      void reviveUntilUp();
    });
  };
  const startLife = async () => {
    current = await start(startSignal, current);
    isUp = true;
    onChange();
    watch(current);
  };
  /** Only one start at a time, shared by all callers. */
  const startAgain = () => (starting ??= startLife().finally(() => (starting = undefined)));
  const isDown = () => !isUp && !isRetired;
  const delayMs = () => backoffMs(tries + 1, BACKOFF);

  async function reviveUntilUp(): Promise<void> {
    if (!revive || isReviving) return;
    isReviving = true;
    while (isDown()) {
      if (tries >= maxTries) {
        giveUp(new PlainError(`${name} does not stay up: it was restarted ${tries} times. Log: ${current.logFile}`));
        break;
      }
      const pauseMs = delayMs();
      tries += 1;
      await pause(pauseMs, stopped.signal);
      if (!isDown() || restarts > 0) break;
      await startAgain().then(
        () => log(`${name} is back (process ${current.pid}).`),
        (error: unknown) => isRetired || log(describeError(error)),
      );
    }
    isReviving = false;
  }

  watch(current);
  return {
    name,
    /** The current life; while the program is down, the last one. */
    get current() {
      return current;
    },
    get pid() {
      return current.pid;
    },
    get isUp() {
      return isUp;
    },
    kill: (signal: NodeJS.Signals) => current.kill(signal),
    /** Resolves when the current life ends; at once if the program is down. */
    waitExit: () => current.exited,
    /** Resolves as soon as the program is ready; rejects if it was stopped for good. */
    async waitReady() {
      while (!isUp) await sleep(20, undefined, { signal: stopped.signal });
    },
    /** Stops the program if it is up, and starts it again; resolves when it is ready. */
    async restart() {
      restarts++;
      try {
        await starting?.catch(() => undefined);
        await current.stop();
        await startAgain();
      } finally {
        restarts--;
        if (isDown()) void reviveUntilUp();
      }
    },
    /** From now on, the program is not restarted when it ends. */
    retire: () => void (isRetired = true),
    /** Resolves with the reason after `maxTries` failed restarts. */
    givenUp,
    /** Stops the program for good, even in the middle of a start. */
    async stop() {
      isRetired = true;
      stopped.abort();
      await starting?.catch(() => undefined);
      await current.stop();
    },
  };
}
