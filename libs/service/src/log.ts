import { errorMessage } from '@taskmesh/contracts/error-details';
import { pino, stdSerializers, stdTimeFunctions, type DestinationStream, type LogFn, type Logger } from 'pino';
import { closeSync, constants, fstatSync, mkdirSync, openSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { logFields } from './telemetry/tracing.ts';

export type Log = Logger;

/** Fields that are redacted at both levels of a record; PostgreSQL's errors quote rows in the last three. */
const REDACTED = [
  ...['password', 'newPassword', 'token', 'accessToken', 'refreshToken', 'authorization', 'email'],
  ...['detail', 'where', 'internalQuery'],
];

const WARN = 40;
const MAX_EQUAL_LINES = 20;
const WINDOW_MS = 10_000;
const MAX_MESSAGES = 1_000;

let opened: DestinationStream | undefined;
const standardOutput: DestinationStream = { write: (line) => (opened ??= openLogOutput()).write(line) };

/**
 * JSON lines: `level`, `time` (RFC 3339), `service`, `trace_id` and `span_id` within a trace, the fields, `msg`. Of
 * warnings and errors with the same `msg`, at most 20 in 10 s are written, followed by a line with how many were
 * `suppressed`.
 * @param options.destination by default standard output, which never blocks or fails (`openLogOutput`)
 */
export function createLog(options: { service: string; level: string; destination?: DestinationStream }): Log {
  const { service, level, destination = standardOutput } = options;
  return pino(
    {
      level,
      base: { service },
      mixin: logFields,
      timestamp: stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { err: withCauses },
      hooks: { logMethod: suppressFloods() },
      redact: { paths: REDACTED.flatMap((name) => [name, `*.${name}`]), censor: '[redacted]' },
    },
    destination,
  );
}

function suppressFloods() {
  const windows = new Map<string, { begin: number; count: number }>();
  return function (this: Logger, args: Parameters<LogFn>, method: LogFn, level: number): void {
    const message = args.find((arg) => typeof arg === 'string');
    if (level < WARN || message === undefined) return method.apply(this, args);
    const now = performance.now();
    let window = windows.get(message);
    if (!window || now - window.begin >= WINDOW_MS) {
      if (windows.size >= MAX_MESSAGES) windows.clear();
      windows.set(message, (window = { begin: now, count: 0 }));
    }
    window.count += 1;
    if (window.count <= MAX_EQUAL_LINES) return method.apply(this, args);
    if (window.count > MAX_EQUAL_LINES + 1) return;
    const { begin } = window;
    const report = () => method.call(this, { suppressed: window.count - MAX_EQUAL_LINES }, message);
    setTimeout(report, begin + WINDOW_MS - now).unref();
  };
}

/** Joins the messages of an error and its causes into one sentence: messages for clients end with a full stop. */
function withCauses(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  try {
    const plain = stdSerializers.err(error);
    return Object.assign(plain, { message: plain.message.replaceAll('.: ', ': ') });
  } catch {
    // The error is frozen, or its message is not a string. Logging must never fail the work that logs.
    const { name, stack } = error;
    return { type: name, message: errorMessage(error), stack };
  }
}

const STANDARD_OUTPUT = 1;
/** Buffered for a pipe with a slow reader; further lines are lost. */
const MAX_PENDING_BYTES = 1024 * 1024;
const RETRY_MS = 100;
/** How long an exiting process waits for the reader of its log. */
const EXIT_WAIT_MS = 500;

let lost = 0;

/** The number of log lines that this process could not write. */
export const lostLogLines = (): number => lost;

/**
 * Writes lines to a file, or to standard output. On a full disk, a closed pipe or a stalled reader, lines are dropped and
 * counted; writing never throws or blocks, because no request or shutdown may depend on the log.
 * @throws when the file cannot be opened
 */
export function openLogOutput(file?: string) {
  if (file !== undefined) mkdirSync(dirname(file), { recursive: true });
  const fd = file === undefined ? ownStandardOutput() : openSync(file, 'a', 0o600);
  let pending: Buffer[] = [];
  let pendingBytes = 0;
  let lostHere = 0;
  let isLineBroken = false;
  let retry: NodeJS.Timeout | undefined;
  let isClosed = false;

  /** Returns whether everything was written. */
  const flush = (): boolean => {
    for (let [chunk] = pending; chunk; [chunk] = pending) {
      try {
        const written = writeSync(fd, chunk);
        isLineBroken = written < chunk.length;
        pendingBytes -= written;
        if (isLineBroken) pending[0] = chunk.subarray(written);
        else pending.shift();
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'EAGAIN') return false;
        drop();
      }
    }
    return true;
  };

  const drop = () => {
    lost += pending.length;
    lostHere += pending.length;
    pending = [];
    pendingBytes = 0;
  };

  const add = (text: string) => {
    const chunk = Buffer.from(text);
    if (pendingBytes + chunk.length > MAX_PENDING_BYTES) {
      lost += 1;
      lostHere += 1;
      return;
    }
    pending.push(chunk);
    pendingBytes += chunk.length;
  };

  const retryLater = () => {
    retry ??= setTimeout(() => {
      retry = undefined;
      if (!flush()) retryLater();
    }, RETRY_MS).unref();
  };

  const flushAtExit = () => {
    const sleeper = new Int32Array(new SharedArrayBuffer(4));
    const end = performance.now() + EXIT_WAIT_MS;
    while (!flush() && performance.now() < end) Atomics.wait(sleeper, 0, 0, 10);
  };
  process.on('exit', flushAtExit);

  return {
    write(line: string): void {
      if (isClosed) return;
      const missing = lostHere;
      // Ends a line that was written in part, so that the next one can be parsed.
      add(isLineBroken && pending.length === 0 ? `\n${line}` : line);
      if (!flush()) return retryLater();
      if (missing === 0 || lostHere > missing) return;
      lostHere = 0;
      const time = new Date().toISOString();
      add(`${JSON.stringify({ level: 'warn', time, lines: missing, msg: 'log lines could not be written' })}\n`);
      flush();
    },
    close(): void {
      isClosed = true;
      process.off('exit', flushAtExit);
      clearTimeout(retry);
      flush();
      if (fd !== STANDARD_OUTPUT) closeSync(fd);
    },
  };
}

/** Reopens a pipe as non-blocking: setting O_NONBLOCK on the inherited descriptor would affect other processes. */
function ownStandardOutput(): number {
  try {
    if (!fstatSync(STANDARD_OUTPUT).isFIFO()) return STANDARD_OUTPUT;
    return openSync(`/proc/self/fd/${STANDARD_OUTPUT}`, constants.O_WRONLY | constants.O_NONBLOCK);
  } catch {
    return STANDARD_OUTPUT; // closed, or not on Linux
  }
}

const REPEAT_AFTER_MS = 60_000;

/**
 * Of consecutive failures, reports the first, each change of the cause, and otherwise one per minute, so that the end of
 * the log always shows what is wrong now.
 */
export function createFailureLog(
  report: (error: unknown, failures: number) => void,
  { monotonicMs = () => performance.now() }: { monotonicMs?: () => number } = {},
) {
  let failures = 0;
  let reported: { cause: string; atMs: number } | undefined;
  return {
    failed(error: unknown): void {
      failures++;
      const cause = causeOf(error);
      const isKnown = reported?.cause === cause && monotonicMs() - reported.atMs < REPEAT_AFTER_MS;
      if (isKnown) return;
      reported = { cause, atMs: monotonicMs() };
      report(error, failures);
    },
    /** Returns whether a failure was logged since the last success. */
    succeeded(): boolean {
      const wasFailing = reported !== undefined;
      [failures, reported] = [0, undefined];
      return wasFailing;
    },
  };
}

/** The message of an AppError is for clients: its cause says what failed. */
function causeOf(error: unknown): string {
  return Error.isError(error) && error.cause !== undefined ? causeOf(error.cause) : errorMessage(error);
}
