import { spawn } from 'node:child_process';
import { closeSync, fstatSync, mkdirSync, openSync, readFileSync } from 'node:fs';
import { copyFile, rename, rm, stat, truncate } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { indent, PlainError } from '../errors.ts';
import { sendSignal, type StopLadder } from './process-table.ts';

export interface Exit {
  code: number | null;
  signal: NodeJS.Signals | null;
}

/** A process that we started and that runs. */
export type RunningProcess = Awaited<ReturnType<typeof startChild>>;

export interface ChildOptions {
  command: string;
  args: string[];
  env?: Record<string, string | undefined>;
  cwd?: string;
  /** Output goes straight to this file, so that a child never waits for us, nor dies with us. */
  logFile: string;
  user?: { uid: number; gid: number };
  /** Open files, or a channel, that the child gets as descriptors 3, 4, … */
  descriptors?: (number | 'ipc')[];
  ladder: StopLadder;
}

const LAST_LINES = 12;
const READY_TIMEOUT_MS = 600_000;
const REPORT_EVERY_MS = 15_000;

const MAX_LOG_BYTES = 10 * 1024 * 1024;
const MAX_FORMER_LOGS = 3;
const CHECK_LOG_MS = 10_000;

/**
 * Starts a child in our own session: Linux shares out processor time between sessions first (its autogroups), so what has
 * one of its own can keep a server waiting for a whole tick. A Ctrl-C at the terminal reaches the child, too, unless this
 * process stands apart from the terminal.
 * @throws PlainError when the program is not there or may not be run
 */
export async function startChild(options: ChildOptions) {
  const { command, args, env = process.env, cwd, logFile, user, descriptors = [], ladder } = options;
  mkdirSync(dirname(logFile), { recursive: true });
  const output = openSync(logFile, 'a', 0o600); // statements and addresses may have secrets in them
  const logStart = fstatSync(output).size;
  const child = spawn(command, args, { env, cwd, stdio: ['ignore', output, output, ...descriptors], ...user });
  closeSync(output); // the child has its own
  const stopLimiting = limitLogFile(logFile);
  let ended = false;
  const exited = new Promise<Exit>((resolve) =>
    child.once('exit', (code, signal) => {
      ended = true;
      void stopLimiting().then(() => resolve({ code, signal }));
    }),
  );
  await new Promise<void>((resolve, reject) => {
    child.once('spawn', resolve);
    child.once('error', (cause) => {
      void stopLimiting();
      reject(new PlainError(`Cannot run ${command}: ${cause.message}.`, { cause }));
    });
  });

  const { pid = 0 } = child;
  const kill = (signal: NodeJS.Signals) => {
    if (!ended) sendSignal(pid, signal); // afterwards the id may be somebody else's
  };
  return {
    ...{ pid, exited, logFile, kill },
    /** For who has asked for a channel to it. */
    process: child,
    /** What it wrote to its log since it was started, the last lines only. */
    lastWords: () =>
      readFileSync(logFile).subarray(logStart).toString().trimEnd().split('\n').slice(-LAST_LINES).join('\n'),
    /** Asks it to end, ever less politely, and resolves when it has. */
    async stop() {
      for (const [signal, waitMs] of ladder) {
        kill(signal);
        if (await Promise.race([exited.then(() => true), sleep(waitMs, false, { ref: false })])) return;
      }
      kill('SIGKILL');
      await exited;
    },
  };
}

export interface ReadinessOptions<Answer = unknown> {
  name: string;
  /** What it reports once it does its work; nothing or a rejection means not yet. */
  ready: () => Promise<Answer | undefined>;
  /** Recovery after a crash, or a busy machine, may take minutes. @default 600000 */
  timeoutMs?: number;
  /** Receives a line now and then about what is being waited for. */
  log?: (line: string) => void;
  intervalMs?: number;
  /** Gives up when it is aborted. */
  signal?: AbortSignal | undefined;
}

/**
 * Waits until a child does its work. One that ends before, takes too long, or is given up is stopped.
 * @throws PlainError with the last lines of its log
 */
export async function untilReady<Answer>(child: RunningProcess, options: ReadinessOptions<Answer>): Promise<Answer> {
  const { name, ready, timeoutMs = READY_TIMEOUT_MS, intervalMs = 50, signal, log } = options;
  const begin = performance.now();
  let nextReport = begin + REPORT_EVERY_MS;
  let exit: Exit | undefined;
  const exited = child.exited.then((reason) => {
    exit = reason;
    return undefined;
  });
  const over = sleep(timeoutMs, undefined, { signal, ref: false }).catch(() => undefined);
  while (!exit && !signal?.aborted && performance.now() < begin + timeoutMs) {
    // A server may accept a connection and then say nothing.
    const answer = await Promise.race([ready().catch(() => undefined), exited, over]);
    if (answer) return answer;
    if (performance.now() >= nextReport) {
      nextReport += REPORT_EVERY_MS;
      const seconds = Math.round((performance.now() - begin) / 1000);
      log?.(`Waiting for ${name}, which started ${seconds} s ago. Its log: ${child.logFile}`);
    }
    await Promise.race([exited, over, sleep(intervalMs)]);
  }
  const problem = exit
    ? `ended (${describeExit(exit)}) before it was ready`
    : signal?.aborted
      ? 'was stopped before it was ready'
      : `was not ready after ${timeoutMs / 1000} s`;
  const lastWords = child.lastWords();
  await child.stop();
  throw new PlainError(
    [`${name} ${problem}.`, lastWords && indent(lastWords), `Its log: ${child.logFile}`].filter(Boolean).join('\n'),
  );
}

export function describeExit({ code, signal }: Exit): string {
  return signal ? `signal ${signal}` : `exit code ${code}`;
}

/**
 * Keeps a log file, which some process has open for appending, at about 10 MiB: it is copied to `<file>.1` and emptied,
 * and up to three former ones are kept. Copied and not renamed, because the writer goes on with the file that it has.
 * Lines that are written within the moment between the two are lost.
 * @returns a function that stops the checks; it resolves when none is under way
 */
export function limitLogFile(file: string, { maxBytes = MAX_LOG_BYTES, checkMs = CHECK_LOG_MS } = {}) {
  let checking = Promise.resolve();
  const timer = setInterval(() => {
    checking = checking.then(() => limit(file, maxBytes));
  }, checkMs).unref();
  return (): Promise<void> => {
    clearInterval(timer);
    return checking;
  };
}

async function limit(file: string, maxBytes: number): Promise<void> {
  try {
    if ((await stat(file)).size < maxBytes) return;
    await rm(`${file}.${MAX_FORMER_LOGS}`, { force: true });
    for (let age = MAX_FORMER_LOGS - 1; age > 0; age -= 1)
      await rename(`${file}.${age}`, `${file}.${age + 1}`).catch(() => undefined); // fewer former ones
    // On a full disk the space is worth more than the copy.
    await copyFile(file, `${file}.1`).catch(() => rm(`${file}.1`, { force: true }));
    await truncate(file);
  } catch {
    // The file or its folder is gone, or may not be changed: the next check tries again.
  }
}
