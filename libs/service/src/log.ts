import { errorMessage } from '@taskmesh/errors/details';
import { logFields } from '@taskmesh/telemetry';
import { pino, stdSerializers, stdTimeFunctions, type DestinationStream, type Logger } from 'pino';

export type Log = Logger;

/** Fields that are never logged, at any place; the last ones are those in which PostgreSQL's errors cite rows. */
const REDACTED = [
  ...['password', 'newPassword', 'token', 'accessToken', 'refreshToken', 'authorization', 'email'],
  ...['detail', 'where', 'internalQuery'],
];

/** JSON lines: `level`, `time` (RFC 3339), `service`, `trace_id` and `span_id` within a trace, the fields, `msg`. */
export function createLog(options: { service: string; level: string; destination?: DestinationStream }): Log {
  const { service, level, destination } = options;
  return pino(
    {
      level,
      base: { service },
      mixin: logFields,
      timestamp: stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { err: withCauses },
      redact: { paths: REDACTED.flatMap((name) => [name, `*.${name}`]), censor: '[redacted]' },
    },
    ...(destination ? [destination] : []),
  );
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
