import { rateLimited } from '@taskmesh/contracts';
import type { KeyValue, Limiter, LimiterOptions, LimiterResult } from '@taskmesh/key-value';
import { networkOf } from '@taskmesh/service';
import { hashOf } from './opaque-token.ts';

const MINUTE_S = 60;
/** Callers with an unknown address share one counter. */
const UNKNOWN_IP = 'unknown';

/** Rate limits. Callers count by the network of their IP (`networkOf`); e-mail addresses are stored only as hashes. */
export interface Limits {
  /**
   * Counts a password that somebody shows, right or wrong: each takes its time of a core, and of those who wait behind it.
   * @throws AppError RATE_LIMITED when this caller showed too many, and as `checkLogin`
   */
  countLogin(emailKey: string, ip: string | null): Promise<void>;
  /** @throws AppError RATE_LIMITED when this caller (here or in total) or strangers at this address failed too often */
  checkLogin(emailKey: string, ip: string | null): Promise<void>;
  /** Counts a failure. @throws AppError RATE_LIMITED when there were too many before it */
  countFailedLogin(emailKey: string, ip: string | null): Promise<void>;
  /** Resets the failures at this address, in total and by this caller: a new password makes earlier guesses void. */
  forgetFailedLogins(emailKey: string, ip: string | null): Promise<void>;
  /** Counts an attempt to refresh, with any token. @throws AppError RATE_LIMITED */
  countRefreshTry(ip: string | null): Promise<void>;
  /** @throws AppError RATE_LIMITED when this session was refreshed too often */
  countRefresh(sessionId: string): Promise<void>;
  /** @throws AppError RATE_LIMITED when this account created too many personal tokens */
  countNewToken(userId: string): Promise<void>;
  /**
   * Counts each setting by itself: a stolen session that renames the account must not keep its owner from setting a new password.
   * @throws AppError RATE_LIMITED when this setting of the account was changed too often
   */
  countChange(userId: string, setting: 'name' | 'password' | 'email'): Promise<void>;
  /** @throws AppError RATE_LIMITED */
  countSignUp(ip: string | null): Promise<void>;
  /** Counts one step of a sign-in at a provider. @throws AppError RATE_LIMITED */
  countProviderSignIn(ip: string | null): Promise<void>;
  /** @throws AppError RATE_LIMITED */
  countRecovery(ip: string | null): Promise<void>;
  /** Counts a mail to this address; false when it has had too many. */
  allowRecoveryMail(emailKey: string): Promise<boolean>;
  /** The same, counted apart: what strangers ask for must not cost the owner of the address the mails to recover an account. */
  allowConfirmationMail(emailKey: string): Promise<boolean>;
  /** The same for mails about changes that were made: no one has confirmed the address of a new account. */
  allowNotice(emailKey: string): Promise<boolean>;
}

export interface LimitsOptions {
  keyValue: KeyValue;
  /** Multiplies the limits that count callers alone; 0 disables them. */
  factor: number;
  /** The IPs that signed in at this address before: strangers' guesses do not lock these out. */
  signInIps(emailKey: string): Promise<string[]>;
}

export function createLimits({ keyValue, factor, signInIps }: LimitsOptions): Limits {
  const perIp = (options: LimiterOptions): Limiter | undefined =>
    factor === 0
      ? undefined
      : keyValue.limiter({ ...options, points: Math.max(1, Math.round(options.points * factor)) });

  const logins = perIp({ name: 'auth.logins.ip', points: 600, windowSeconds: 5 * MINUTE_S });
  const failures = keyValue.limiter({ name: 'auth.login', points: 10, windowSeconds: 15 * MINUTE_S });
  const failuresOfAddress = keyValue.limiter({ name: 'auth.login.address', points: 100, windowSeconds: 60 * MINUTE_S });
  const failuresOfIp = perIp({ name: 'auth.login.ip', points: 100, windowSeconds: 15 * MINUTE_S });
  const refreshTries = perIp({ name: 'auth.refresh.ip', points: 1_000, windowSeconds: 5 * MINUTE_S });
  const refreshes = keyValue.limiter({ name: 'auth.refresh', points: 60, windowSeconds: 15 * MINUTE_S });
  const newTokens = keyValue.limiter({ name: 'auth.token', points: 100, windowSeconds: 24 * 60 * MINUTE_S });
  const changes = keyValue.limiter({ name: 'auth.change', points: 60, windowSeconds: 15 * MINUTE_S });
  const signUps = perIp({ name: 'auth.sign-up.ip', points: 60, windowSeconds: 5 * MINUTE_S });
  const providerSignIns = perIp({ name: 'auth.provider.ip', points: 180, windowSeconds: 5 * MINUTE_S });
  const recoveries = perIp({ name: 'auth.recovery.ip', points: 60, windowSeconds: 5 * MINUTE_S });
  const mails = (name: string, points: number) => keyValue.limiter({ name, points, windowSeconds: 60 * MINUTE_S });
  const recoveryMails = mails('auth.recovery', 5);
  const confirmationMails = mails('auth.confirmation', 5);
  const notices = mails('auth.notice', 20);

  const keyOfPair = (emailKey: string, caller: string) => hashOf(JSON.stringify([emailKey, caller]));

  const login = async (emailKey: string, ip: string | null, turn: 'peek' | 'consume'): Promise<void> => {
    const caller = callerOf(ip);
    const [ofAddress, ...others] = await Promise.all([
      failuresOfAddress[turn](hashOf(emailKey)),
      failures[turn](keyOfPair(emailKey, caller)),
      failuresOfIp?.[turn](caller),
    ]);
    refuseWhenUsedUp(others);
    if (!ofAddress.allowed && !(await signInIps(emailKey)).map(callerOf).includes(caller))
      refuseWhenUsedUp([ofAddress]);
  };

  return {
    async countLogin(emailKey, ip) {
      refuseWhenUsedUp([await logins?.consume(callerOf(ip))]);
      await login(emailKey, ip, 'peek');
    },
    checkLogin: (emailKey, ip) => login(emailKey, ip, 'peek'),
    countFailedLogin: (emailKey, ip) => login(emailKey, ip, 'consume'),
    async forgetFailedLogins(emailKey, ip) {
      await Promise.all([failuresOfAddress.reset(hashOf(emailKey)), failures.reset(keyOfPair(emailKey, callerOf(ip)))]);
    },
    async countRefreshTry(ip) {
      refuseWhenUsedUp([await refreshTries?.consume(callerOf(ip))]);
    },
    async countRefresh(sessionId) {
      refuseWhenUsedUp([await refreshes.consume(sessionId)]);
    },
    async countNewToken(userId) {
      refuseWhenUsedUp([await newTokens.consume(userId)]);
    },
    async countChange(userId, setting) {
      refuseWhenUsedUp([await changes.consume(`${setting}.${userId}`)]);
    },
    async countSignUp(ip) {
      refuseWhenUsedUp([await signUps?.consume(callerOf(ip))]);
    },
    async countProviderSignIn(ip) {
      refuseWhenUsedUp([await providerSignIns?.consume(callerOf(ip))]);
    },
    async countRecovery(ip) {
      refuseWhenUsedUp([await recoveries?.consume(callerOf(ip))]);
    },
    allowRecoveryMail: (emailKey) => mayBeSent(recoveryMails, emailKey),
    allowConfirmationMail: (emailKey) => mayBeSent(confirmationMails, emailKey),
    allowNotice: (emailKey) => mayBeSent(notices, emailKey),
  };
}

async function mayBeSent(mails: Limiter, emailKey: string): Promise<boolean> {
  return (await mails.consume(hashOf(emailKey))).allowed;
}

/** The caller that an IP stands for. */
export function callerOf(ip: string | null): string {
  return ip === null ? UNKNOWN_IP : networkOf(ip);
}

function refuseWhenUsedUp(results: (LimiterResult | undefined)[]): void {
  const waits = results.filter((result) => result?.allowed === false).map((result) => result?.retryAfterSeconds ?? 0);
  if (waits.length > 0) throw rateLimited(Math.max(1, ...waits));
}
