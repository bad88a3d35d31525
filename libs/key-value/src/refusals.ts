import { explainTls, type Log, type Refusal } from '@taskmesh/service';
import type { Redis } from 'ioredis';

const LOGIN = /^(WRONGPASS|NOAUTH|NOPERM|ERR AUTH|ERR invalid password)/;
const ONE_SIDED_TLS = 'perhaps only one side uses TLS: rediss:// or redis:// in REDIS_URL';

export const READ_ONLY = 'READONLY: it is a replica';

export const isReadOnly = (error: unknown): boolean => messageOf(error).includes('READONLY');

export const isReplica = async (redis: Redis): Promise<boolean> => (await redis.role())[0] === 'slave';

export function refusalOf(error: unknown): Refusal {
  const tls = explainTls(error, { ca: 'sslrootcert in REDIS_URL', cert: 'sslcert in REDIS_URL', tls: 'REDIS_URL' });
  if (tls) return tls;
  const message = messageOf(error);
  if (LOGIN.test(message))
    return { reason: `refuses the user or the password (REDIS_URL): ${message}`, isPermanent: true };
  if (isReadOnly(error))
    return { reason: 'is a replica, which accepts no writes: REDIS_URL must point to the primary', isPermanent: false };
  const isOneSided = /closed|ECONNRESET|ETIMEDOUT|in time/.test(message);
  return { reason: `does not respond: ${message}${isOneSided ? ` (${ONE_SIDED_TLS})` : ''}`, isPermanent: false };
}

/** Uses only the message: the client's errors contain the failed command, with keys, values and even the password. */
function messageOf(error: unknown): string {
  return Error.isError(error) ? error.message : String(error);
}

/** Logs once that Redis is unavailable and once that it is back, however many calls and reconnects fail in between. */
export function createOutage(log: Log) {
  const reportedKinds = new Set<string>();
  let isUnavailable = false;
  return {
    began(reason: unknown): void {
      if (isUnavailable) return;
      isUnavailable = true;
      log.warn({ reason: refusalOf(reason).reason }, 'Redis does not respond; continuing without it');
    },
    ended(): void {
      if (!isUnavailable) return;
      isUnavailable = false;
      log.info('Redis responds again');
    },
    /** Redis returned an error for a command; each kind of error is logged once. */
    refused(error: unknown): void {
      const reason = messageOf(error);
      const kind = reason.split(' ', 1)[0] ?? '';
      if (reportedKinds.has(kind)) return;
      reportedKinds.add(kind);
      log.warn({ reason }, 'Redis refuses a command');
    },
  };
}
