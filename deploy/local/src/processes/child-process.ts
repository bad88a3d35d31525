import { settlesWithin } from '@taskmesh/service';
import { spawn } from 'node:child_process';
import { closeSync, fstatSync, mkdirSync, openSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { PlainError } from '../plain-error.ts';
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

/**
 * Starts a child in our own session: Linux shares out processor time between sessions first (its autogroups), so what has
 * one of its own can keep PostgreSQL or a gateway waiting for a whole tick. `npm start`, `npm run stack` and
 * `npm test` stand apart from the terminal, so a Ctrl-C reaches us alone and we decide who ends when; in a benchmark it
 * reaches all.
 * @throws PlainError when the program is not there or may not be run
 */
export async function startChild(options: ChildOptions) {
  const { command, args, env = process.env, cwd, logFile, user, descriptors = [], ladder } = options;
  mkdirSync(dirname(logFile), { recursive: true });
  const output = openSync(logFile, 'a', 0o600); // statements and addresses may have secrets in them
  const logStart = fstatSync(output).size;
  const child = spawn(command, args, { env, cwd, stdio: ['ignore', output, output, ...descriptors], ...user });
  closeSync(output); // the child has its own
  const exited = new Promise<Exit>((resolve) => child.once('exit', (code, signal) => resolve({ code, signal })));
  await new Promise<void>((resolve, reject) => {
    child.once('spawn', resolve);
    child.once('error', (cause) => reject(new PlainError(`Cannot run ${command}: ${cause.message}.`, { cause })));
  });

  const { pid = 0 } = child;
  let ended = false;
  void exited.then(() => (ended = true));
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
        if (await settlesWithin(exited, waitMs)) return;
      }
      kill('SIGKILL');
      await exited;
    },
  };
}

export interface ReadinessOptions<Told = unknown> {
  name: string;
  /** What it tells once it does its work; nothing or a rejection means not yet. */
  ready: () => Promise<Told | undefined>;
  /** Recovery after a crash may take a while. @default 60000 */
  timeoutMs?: number;
  intervalMs?: number;
  /** Gives up when it is aborted. */
  signal?: AbortSignal | undefined;
}

/**
 * Waits until a child does its work. One that ends before, takes too long, or is given up is stopped.
 * @throws PlainError with the last lines of its log
 */
export async function untilReady<Told>(child: RunningProcess, options: ReadinessOptions<Told>): Promise<Told> {
  const { name, ready, timeoutMs = 60_000, intervalMs = 50, signal } = options;
  const deadline = performance.now() + timeoutMs;
  let exit: Exit | undefined;
  void child.exited.then((reason) => (exit = reason));
  while (!exit && !signal?.aborted && performance.now() < deadline) {
    const told = await ready().catch(() => undefined);
    if (told) return told;
    await Promise.race([child.exited, sleep(intervalMs)]);
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

export function indent(text: string): string {
  return text.replaceAll(/^/gm, '    ');
}
