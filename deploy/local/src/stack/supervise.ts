import { describeError, describeExit, PlainError, type RunningProcess } from '@taskmesh/local-servers';
import { backoffMs, pause } from '@taskmesh/service';
import { setTimeout as sleep } from 'node:timers/promises';

const BACKOFF = { firstMs: 200, longestMs: 5_000 };
/** One that ran this long is taken for healthy: when it dies after all, the delays begin again. */
const HEALTHY_AFTER_MS = 10_000;

/** A process with a name that lives through several lives of the program behind it. */
export type Supervised<Life extends RunningProcess = RunningProcess> = Awaited<ReturnType<typeof supervise<Life>>>;

export interface SuperviseOptions<Life> {
  name: string;
  /** Starts the program, as it was in its `former` life, and resolves when it is ready. Gives up when the signal is aborted. */
  start: (signal: AbortSignal, former?: Life) => Promise<Life>;
  /** Whether one that died by itself is started again. */
  revive: boolean;
  /** How often that is tried before one runs for a while. @default Infinity */
  maxTries?: number;
  log: (line: string) => void;
  /** Gives up a start that is under way when it is aborted. */
  signal?: AbortSignal | undefined;
  /** Called after every change: up, down, another process id. */
  onChange: () => void;
}

/** Starts a program for the first time (a failure is the caller's to handle) and from then on keeps it alive. */
export async function supervise<Life extends RunningProcess>(options: SuperviseOptions<Life>) {
  const { name, start, revive, maxTries = Infinity, log, signal, onChange } = options;
  const stopped = new AbortController();
  const givenUpStart = signal ? AbortSignal.any([stopped.signal, signal]) : stopped.signal;
  const { promise: givenUp, resolve: giveUp } = Promise.withResolvers<PlainError>();
  let current = await start(givenUpStart);
  let isUp = true;
  /** Who is stopping and starting it on purpose: its end is no accident then. */
  let restarts = 0;
  let starting: Promise<void> | undefined;
  let reviving = false;
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
        `${name} ended (${describeExit(exit)})${isTriedAgain ? `, starting it again in ${delayMs()} ms` : ''}. Log: ${life.logFile}`,
      );
      void reviveUntilUp();
    });
  };
  const startLife = async () => {
    current = await start(givenUpStart, current);
    isUp = true;
    onChange();
    watch(current);
  };
  /** One start at a time, however many ask. */
  const startAgain = () => (starting ??= startLife().finally(() => (starting = undefined)));
  const isDown = () => !isUp && !isRetired;
  const delayMs = () => backoffMs(tries + 1, BACKOFF);

  async function reviveUntilUp(): Promise<void> {
    if (!revive || reviving) return;
    reviving = true;
    while (isDown()) {
      if (tries >= maxTries) {
        giveUp(
          new PlainError(`${name} does not stay up: it was started again ${tries} times. Log: ${current.logFile}`),
        );
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
    reviving = false;
  }

  watch(current);
  return {
    name,
    /** The present life; the last one while it is down. */
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
    /** Resolves with the end of the present life, at once when it is down. */
    waitExit: () => current.exited,
    /** Resolves as soon as a life is up and ready; rejects when it was stopped for good. */
    async waitReady() {
      while (!isUp) await sleep(20, undefined, { signal: stopped.signal });
    },
    /** Stops it if it is up and starts it again; resolves when it is ready. */
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
    /** From now on it is not started again when it ends. */
    retire: () => void (isRetired = true),
    /** Resolves, with the reason, when it was tried `maxTries` times in vain. */
    givenUp,
    /** Ends it for good, also in the middle of a start. */
    async stop() {
      isRetired = true;
      stopped.abort();
      await starting?.catch(() => undefined);
      await current.stop();
    },
  };
}
