import { explainTls, type Refusal } from '@taskmesh/service';

const LOGIN = /^(WRONGPASS|NOAUTH|NOPERM|ERR AUTH|ERR invalid password)/;
const ONE_SIDED_TLS = 'perhaps one side speaks TLS and the other does not: rediss:// or redis:// in REDIS_URL';

export function refusalOf(error: unknown): Refusal {
  const tls = explainTls(error, { ca: 'REDIS_TLS_CA_FILE', cert: 'REDIS_TLS_CERT_FILE', tls: 'REDIS_URL' });
  if (tls) return tls;
  const message = messageOf(error);
  if (LOGIN.test(message))
    return { reason: `refuses the user or the password (REDIS_URL): ${message}`, isLasting: true };
  const isOneSided = /closed|ECONNRESET|ETIMEDOUT|in time/.test(message);
  return { reason: `does not answer: ${message}${isOneSided ? ` (${ONE_SIDED_TLS})` : ''}`, isLasting: false };
}

/** Only the message: the client's errors carry the failed command, with keys, values and even the password. */
export function messageOf(error: unknown): string {
  return Error.isError(error) ? error.message : String(error);
}
