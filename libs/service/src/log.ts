import { errorMessage } from '@taskmesh/contracts/error-details';
import { logFields } from './telemetry/index.ts';
import { pino, stdSerializers, stdTimeFunctions, type DestinationStream, type Logger, type LogFn } from 'pino';
import { openLogOutput } from './log-output.ts';

export type Log = Logger;

/** Fields that are never logged, at any place; the last ones are those in which PostgreSQL's errors cite rows. */
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
 * warnings and errors with an equal `msg`, at most 20 in 10 s are written, followed by a line with how many were
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

/** The messages of an error and its causes as one sentence: those for clients have a full stop. */
function withCauses(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  try {
    const told = stdSerializers.err(error);
    return Object.assign(told, { message: told.message.replaceAll('.: ', ': ') });
  } catch {
    // It is frozen, or its message is no text: a line is never worth the work that writes it.
    const { name, stack } = error;
    return { type: name, message: errorMessage(error), stack };
  }
}
