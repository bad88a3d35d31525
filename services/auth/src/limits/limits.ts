import { rateLimited } from '@taskmesh/errors';
import type { KeyValue, Limiter, LimiterOptions } from '@taskmesh/key-value';
import { hashOf } from '../opaque-token.ts';

const MINUTE_S = 60;
/** Callers whose address nobody told share one counter. */
const UNKNOWN_IP = 'unknown';

/** How often one may try. Addresses go into the store as hashes only. */
export interface Limits {
  /** @throws AppError RATE_LIMITED when this address and caller, or this caller, failed too often */
  checkLogin(emailKey: string, ip: string | null): Promise<void>;
  /** Counts a failure. @throws AppError RATE_LIMITED when there were too many before it */
  countFailedLogin(emailKey: string, ip: string | null): Promise<void>;
  /** @throws AppError RATE_LIMITED */
  countSignUp(ip: string | null): Promise<void>;
  /** @throws AppError RATE_LIMITED */
  countRecovery(ip: string | null): Promise<void>;
  /** Whether this address may get one more mail; counts it. */
  allowRecoveryMail(emailKey: string): Promise<boolean>;
}

/** `factor` multiplies what is counted per IP alone; 0 switches that off. */
export function createLimits(keyValue: KeyValue, factor: number): Limits {
  const perIp = (options: LimiterOptions): Limiter | undefined =>
    factor === 0
      ? undefined
      : keyValue.limiter({ ...options, points: Math.max(1, Math.round(options.points * factor)) });

  const failures = keyValue.limiter({ name: 'auth.login', points: 10, windowSeconds: 15 * MINUTE_S });
  const failuresOfIp = perIp({ name: 'auth.login.ip', points: 100, windowSeconds: 15 * MINUTE_S });
  const signUps = perIp({ name: 'auth.sign-up.ip', points: 60, windowSeconds: 5 * MINUTE_S });
  const recoveries = perIp({ name: 'auth.recovery.ip', points: 60, windowSeconds: 5 * MINUTE_S });
  const mails = keyValue.limiter({ name: 'auth.recovery', points: 5, windowSeconds: 60 * MINUTE_S });

  const loginKey = (emailKey: string, ip: string | null) => hashOf(JSON.stringify([emailKey, ip]));

  return {
    async checkLogin(emailKey, ip) {
      await refuseWhenUsedUp([failures.peek(loginKey(emailKey, ip)), failuresOfIp?.peek(ip ?? UNKNOWN_IP)]);
    },
    async countFailedLogin(emailKey, ip) {
      await refuseWhenUsedUp([failures.consume(loginKey(emailKey, ip)), failuresOfIp?.consume(ip ?? UNKNOWN_IP)]);
    },
    async countSignUp(ip) {
      await refuseWhenUsedUp([signUps?.consume(ip ?? UNKNOWN_IP)]);
    },
    async countRecovery(ip) {
      await refuseWhenUsedUp([recoveries?.consume(ip ?? UNKNOWN_IP)]);
    },
    async allowRecoveryMail(emailKey) {
      return (await mails.consume(hashOf(emailKey))).allowed;
    },
  };
}

async function refuseWhenUsedUp(looks: (ReturnType<Limiter['peek']> | undefined)[]): Promise<void> {
  const results = (await Promise.all(looks)).filter((result) => result !== undefined);
  const waits = results.filter(({ allowed }) => !allowed).map(({ retryAfterSeconds }) => retryAfterSeconds);
  if (waits.length > 0) throw rateLimited(Math.max(1, ...waits));
}
