import { errorMessage } from '@taskmesh/contracts/error-details';
import { describeError, PlainError, StillRunning } from '@taskmesh/local-servers';
import { ConfigError, ignoreOutputErrors } from '@taskmesh/service';
import { parseArgs } from 'node:util';

export interface Command {
  /** Resolves when everything is running, or with nothing when the work is done. Aborts and cleans up on `signal`. */
  start(signal: AbortSignal): Promise<Running | void>;
  /** Kills everything that was started, for people who do not want to wait for `stop`. */
  killNow?(): void;
}

export interface Running {
  /** Resolves with the reason when it cannot continue. */
  failed?: Promise<Error>;
  stop(): Promise<void>;
}

/** Longer than any orderly stop takes. */
const STOP_MS = 60_000;

/**
 * Runs a command at a terminal: starts it, waits for Ctrl-C, SIGTERM, a closed terminal, the end of the launcher or a fatal
 * failure, then stops it and exits. A second signal kills everything, as does a stop that takes longer than `stopMs`. Errors are
 * printed without a stack, unless they are defects.
 */
export async function runCommand(command: Command, { stopMs = STOP_MS } = {}): Promise<never> {
  const interruption = new AbortController();
  const interrupted = new Promise<void>((resolve) => interruption.signal.addEventListener('abort', () => resolve()));
  const interrupt = () => {
    if (interruption.signal.aborted) {
      command.killNow?.();
      process.exit(130);
    }
    printLine('Stopping …');
    limitStop();
    interruption.abort();
  };
  const limitStop = () =>
    setTimeout(() => {
      process.stderr.write(`Not stopped after ${stopMs / 1000} s: killing what is left.\n`);
      command.killNow?.();
      process.exit(1);
    }, stopMs);
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, interrupt);
  // The launcher holds the other end of this channel, which closes even if the launcher is killed.
  process.once('disconnect', () => interruption.signal.aborted || interrupt());
  ignoreOutputErrors(); // a closed terminal must not keep us from stopping

  let isStarted = false;
  try {
    const running = await command.start(interruption.signal);
    isStarted = true;
    if (!running) process.exit(0);
    const failure = await Promise.race([interrupted, running.failed ?? interrupted]);
    if (failure) {
      limitStop();
      process.stderr.write(`${describeError(failure)}\n`);
    }
    await running.stop();
    process.exit(failure ? 1 : 0);
  } catch (error) {
    if (!isStarted && interruption.signal.aborted && !(error instanceof StillRunning)) process.exit(0);
    process.stderr.write(`${error instanceof ConfigError ? error.message : describeError(error)}\n`);
    process.exit(error instanceof UsageError ? 2 : 1);
  }
}

/** The command's arguments are invalid. */
export class UsageError extends PlainError {}

export function printLine(line: string): void {
  process.stdout.write(`${line}\n`);
}

/** Parses options with a value (`texts`) and without one (`flags`, to which `help` is added). @throws UsageError */
export function parseOptions<Text extends string, Flag extends string>(
  args: string[],
  { texts, flags }: { texts: readonly Text[]; flags: readonly Flag[] },
): Partial<Record<Text, string> & Record<Flag | 'help', boolean>> {
  const options = Object.fromEntries([
    ...texts.map((name) => [name, { type: 'string' as const }]),
    ...flags.map((name) => [name, { type: 'boolean' as const }]),
    ['help', { type: 'boolean' as const, short: 'h' }],
  ]);
  try {
    return parseArgs({ args, options }).values as Partial<Record<Text, string> & Record<Flag | 'help', boolean>>; // as configured above
  } catch (cause) {
    throw new UsageError(`${errorMessage(cause)}\nSee --help.`, { cause });
  }
}

/** @throws UsageError */
export function number(option: string, text: string, range: { min: number; max: number; isWhole?: boolean }): number {
  const value = Number(text);
  const { min, max, isWhole = false } = range;
  if (!(value >= min && value <= max) || (isWhole && !Number.isInteger(value)))
    throw new UsageError(`${option} must be a ${isWhole ? 'whole ' : ''}number from ${min} to ${max} (is: ${text}).`);
  return value;
}

/** First steps for someone who has just started the platform. */
export function firstSteps(url: string): string {
  const account = JSON.stringify({ email: 'ada@example.com', password: 'a long and private phrase', name: 'Ada' });
  return [
    `Open ${url}/ in a browser, or make an account from here:`,
    `  curl ${url}/api/auth/signup -H 'Content-Type: application/json' -d '${account}'`,
  ].join('\n');
}

/** Formats rows as lines, each column as wide as its widest cell. */
export function table(rows: string[][]): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows
    .map((row) => `  ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ')}`.trimEnd())
    .join('\n');
}
