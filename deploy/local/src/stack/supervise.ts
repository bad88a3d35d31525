import { setTimeout as sleep } from 'node:timers/promises';
import { describeError } from '../plain-error.ts';
import { describeExit, type Exit, type RunningProcess } from '../processes/child-process.ts';

const FIRST_DELAY_MS = 200;
const LONGEST_DELAY_MS = 5_000;
/** One that ran this long is taken for healthy: when it dies after all, the delays begin anew. */
const HEALTHY_AFTER_MS = 10_000;

/** A process with a name that lives through several lives of the program behind it. */
export interface Supervised<Process extends RunningProcess = RunningProcess> {
  readonly name: string;
  /** The present life; the last one while it is down. */
  readonly current: Process;
  readonly pid: number;
  readonly isUp: boolean;
  kill(signal: NodeJS.Signals): void;
  /** Resolves with the end of the present life, at once when it is down. */
  waitExit(): Promise<Exit>;
  /** Resolves as soon as a life is up and ready. */
  waitReady(): Promise<void>;
  /** Stops it if it is up and starts it again; resolves when it is ready. */
  restart(): Promise<void>;
  /** Ends it for good. */
  stop(): Promise<void>;
}

export interface SuperviseOptions<Process> {
  name: string;
  /** Starts the program and resolves when it is ready. */
  start: () => Promise<Process>;
  /** Whether one that died by itself is started again. */
  revive: boolean;
  log: (line: string) => void;
  /** Told after every change: up, down, another process id. */
  onChange?: () => void;
}

/** Starts a program for the first time (a failure is the caller's to handle) and from then on keeps it alive. */
export async function supervise<Process extends RunningProcess>(
  options: SuperviseOptions<Process>,
): Promise<Supervised<Process>> {
  const { name, start, revive, log, onChange = () => undefined } = options;
  let current = await start();
  let isUp = true;
  let stopped = false;
  /** While somebody restarts or stops it, its end is no accident. */
  let isOurDoing = false;
  let starting: Promise<void> | undefined;
  let delayMs = FIRST_DELAY_MS;
  const waiting = new AbortController();

  const watch = (process: Process) => {
    const begin = Date.now();
    void process.exited.then((exit) => {
      isUp = false;
      onChange();
      if (stopped || isOurDoing) return;
      if (Date.now() - begin > HEALTHY_AFTER_MS) delayMs = FIRST_DELAY_MS;
      log(`${name} ended (${describeExit(exit)})${revive ? `, starting it again in ${delayMs} ms` : ''}. Log: ${process.logFile}`);
      if (revive) void reviveUntilUp();
    });
  };
  const startOnce = async () => {
    current = await start();
    isUp = true;
    onChange();
    watch(current);
  };
  /** One start at a time, whoever asks. */
  const startAgain = () => (starting ??= startOnce().finally(() => (starting = undefined)));

  const reviveUntilUp = async () => {
    while (!stopped && !isUp) {
      const pause = delayMs;
      delayMs = Math.min(delayMs * 2, LONGEST_DELAY_MS);
      await sleep(pause, undefined, { signal: waiting.signal }).catch(() => undefined);
      if (stopped || isUp || isOurDoing) return;
      await startAgain().then(
        () => log(`${name} is back (process ${current.pid}).`),
        (error: unknown) => log(describeError(error)),
      );
    }
  };

  watch(current);
  onChange();
  return {
    name,
    get current() {
      return current;
    },
    get pid() {
      return current.pid;
    },
    get isUp() {
      return isUp;
    },
    kill: (signal) => current.kill(signal),
    waitExit: () => current.exited,
    async waitReady() {
      while (!isUp) await Promise.race([starting ?? sleep(20), sleep(20)]);
    },
    async restart() {
      isOurDoing = true;
      try {
        await starting?.catch(() => undefined);
        await current.stop();
        await startAgain();
      } finally {
        isOurDoing = false;
      }
    },
    async stop() {
      stopped = true;
      waiting.abort();
      await starting?.catch(() => undefined);
      await current.stop();
    },
  };
}
