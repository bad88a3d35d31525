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

/** A running process that we started. */
export type RunningProcess = Awaited<ReturnType<typeof startChild>>;

export interface ChildOptions {
  command: string;
  args: string[];
  env?: Record<string, string | undefined>;
  cwd?: string;
  /** The child writes directly to this file, so that it neither waits for us to read nor dies with us. */
  logFile: string;
  user?: { uid: number; gid: number };
  /** Open files or an IPC channel, passed to the child as descriptors 3, 4, … */
  descriptors?: (number | 'ipc')[];
  ladder: StopLadder;
}

const LAST_LINES = 12;
const READY_TIMEOUT_MS = 600_000;
const REPORT_EVERY_MS = 15_000;

const MAX_LOG_BYTES = 10 * 1024 * 1024;
const MAX_OLD_LOGS = 3;
const CHECK_LOG_MS = 10_000;

/**
 * Starts a child in our own session. Linux divides CPU time between sessions first (autogroups), so a process in a session of
 * its own could keep a server waiting for a whole tick. A Ctrl-C at the terminal therefore reaches the child, too, unless
 * this process is detached from the terminal.
 * @throws PlainError when the program does not exist or may not be run
 */
export async function startChild(options: ChildOptions) {
  const { command, args, env = process.env, cwd, logFile, user, descriptors = [], ladder } = options;
  mkdirSync(dirname(logFile), { recursive: true });
  const output = openSync(logFile, 'a', 0o600); // statements and addresses may contain secrets
  const logStart = fstatSync(output).size;
  const child = spawn(command, args, { env, cwd, stdio: ['ignore', output, output, ...descriptors], ...user });
  closeSync(output); // the child has its own
  const stopLimiting = limitLogFile(logFile);
  let hasEnded = false;
  const exited = new Promise<Exit>((resolve) =>
    child.once('exit', (code, signal) => {
      hasEnded = true;
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
    if (!hasEnded) sendSignal(pid, signal); // afterwards the id may belong to another process
  };
  return {
    ...{ pid, exited, logFile, kill },
    /** For callers that use an IPC channel. */
    process: child,
    /** The last lines that the process has written to its log since it was started. */
    lastOutput: () =>
      readFileSync(logFile).subarray(logStart).toString().trimEnd().split('\n').slice(-LAST_LINES).join('\n'),
    /** Sends the signals of the ladder, then SIGKILL, until the process ends. */
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

export interface ReadinessOptions<Ready = unknown> {
  name: string;
  /** Resolves with a value once the process is ready; undefined or a rejection means not yet. */
  ready: () => Promise<Ready | undefined>;
  /** Recovery after a crash, or a busy machine, may take minutes. @default 600000 */
  timeoutMs?: number;
  /** Receives a line every 15 seconds while waiting. */
  log?: (line: string) => void;
  intervalMs?: number;
  /** Aborts the start. */
  signal?: AbortSignal | undefined;
}

/**
 * Waits until a child is ready. Stops the child if it exits early, takes too long, or the start is aborted.
 * @throws PlainError with the last lines of its log
 */
export async function untilReady<Ready>(child: RunningProcess, options: ReadinessOptions<Ready>): Promise<Ready> {
  const { name, ready, timeoutMs = READY_TIMEOUT_MS, intervalMs = 50, signal, log } = options;
  const begin = performance.now();
  let nextReport = begin + REPORT_EVERY_MS;
  let exit: Exit | undefined;
  const exited = child.exited.then((reason) => {
    exit = reason;
    return undefined;
  });
  const timeout = sleep(timeoutMs, undefined, { signal, ref: false }).catch(() => undefined);
  while (!exit && !signal?.aborted && performance.now() < begin + timeoutMs) {
    // A server may accept a connection and then stay silent.
    const result = await Promise.race([ready().catch(() => undefined), exited, timeout]);
    if (result) return result;
    if (performance.now() >= nextReport) {
      nextReport += REPORT_EVERY_MS;
      const seconds = Math.round((performance.now() - begin) / 1000);
      log?.(`Waiting for ${name}, which started ${seconds} s ago. Its log: ${child.logFile}`);
    }
    await Promise.race([exited, timeout, sleep(intervalMs)]);
  }
  const problem = exit
    ? `ended (${describeExit(exit)}) before it was ready`
    : signal?.aborted
      ? 'was stopped before it was ready'
      : `was not ready after ${timeoutMs / 1000} s`;
  const lastOutput = child.lastOutput();
  await child.stop();
  throw new PlainError(
    [`${name} ${problem}.`, lastOutput && indent(lastOutput), `Its log: ${child.logFile}`].filter(Boolean).join('\n'),
  );
}

export function describeExit({ code, signal }: Exit): string {
  return signal ? `signal ${signal}` : `exit code ${code}`;
}

/**
 * Rotates a log file, which another process has open for appending, at about 10 MiB: copies it to `<file>.1`, empties it, and
 * keeps up to three old logs. It is copied rather than renamed, because the writer keeps writing to the file that it has open.
 * Lines written between copying and emptying are lost.
 * @returns a function that stops the checks and resolves when no check is running
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
    await rm(`${file}.${MAX_OLD_LOGS}`, { force: true });
    for (let age = MAX_OLD_LOGS - 1; age > 0; age -= 1)
      await rename(`${file}.${age}`, `${file}.${age + 1}`).catch(() => undefined); // there are fewer old logs
    // On a full disk, the space matters more than the copy.
    await copyFile(file, `${file}.1`).catch(() => rm(`${file}.1`, { force: true }));
    await truncate(file);
  } catch {
    // The file or its folder was deleted or is not writable: the next check tries again.
  }
}
