import { rateLimited } from '@taskmesh/contracts';
import type { KeyValue, LimiterResult } from '@taskmesh/key-value';
import { networkOf, NETWORKS_PER_SITE, siteOf } from '@taskmesh/service';
import { hashOf } from './opaque-token.ts';

const MINUTE_S = 60;
/** Callers with an unknown address share one counter. */
const UNKNOWN_IP = 'unknown';

export interface LimitsOptions {
  keyValue: KeyValue;
  /** Multiplies the limits that count only by caller; 0 disables them. */
  factor: number;
  /** Returns the IPs of earlier sign-ins to the account with this address: other callers' guesses do not lock them out. */
  signInIps(emailKey: string): Promise<string[]>;
}

export type Limits = ReturnType<typeof createLimits>;

/**
 * Rate limits. Callers are identified by the network of their IP (`networkOf`); e-mail addresses are stored only as hashes. The
 * functions that count throw RATE_LIMITED when the limit is reached, unless they document otherwise.
 */
export function createLimits({ keyValue, factor, signInIps }: LimitsOptions) {
  const limiter = (name: string, points: number, minutes: number) =>
    keyValue.limiter({ name, points, windowSeconds: minutes * MINUTE_S });
  const scaled = (points: number) =>
    factor === 0 ? Number.MAX_SAFE_INTEGER : Math.max(1, Math.round(points * factor));
  /** Counts by caller, and all callers of an IPv6 site together. A caller who is refused uses up nothing of the site. */
  const callerLimiter = (name: string, points: number, minutes: number) => {
    if (factor === 0) return async () => undefined;
    const perCaller = scaled(points);
    const callers = limiter(name, perCaller, minutes);
    const sites = limiter(`${name}.site`, NETWORKS_PER_SITE * perCaller, minutes);
    return async (caller: string, method: 'peek' | 'consume' = 'consume') => {
      const site = siteOf(caller);
      // First, so that not each of a site's 65,536 networks leaves a counter behind.
      const ofSite = site === caller ? undefined : await sites.peek(site);
      if (ofSite?.allowed === false) return ofSite;
      const ofCaller = await callers[method](caller);
      return ofSite && ofCaller.allowed && method === 'consume' ? sites.consume(site) : ofCaller;
    };
  };
  const byKey = (...limit: Parameters<typeof limiter>) => {
    const counter = limiter(...limit);
    const count = async (key: string): Promise<void> => refuseWhenExhausted([await counter.consume(key)]);
    return Object.assign(count, { reset: (key: string) => counter.reset(key) });
  };
  const byCaller = (...limit: Parameters<typeof limiter>) => {
    const count = callerLimiter(...limit);
    return async (ip: string | null): Promise<void> => refuseWhenExhausted([await count(callerOf(ip))]);
  };
  /** Counts a mail to an address; returns false when the address has had too many in an hour. */
  const mails = (name: string, points: number) => {
    const counter = limiter(name, points, 60);
    return async (emailKey: string): Promise<boolean> => (await counter.consume(hashOf(emailKey))).allowed;
  };

  const logins = byCaller('auth.logins.ip', 600, 5);
  const failures = limiter('auth.login', 10, 15);
  const failuresOfAddress = limiter('auth.login.address', 100, 60);
  const failuresOfIp = callerLimiter('auth.login.ip', 100, 15);
  const [opened, refreshed] = [byKey('auth.opened', scaled(600), 60), byKey('auth.refreshed', scaled(600), 60)];
  const changes = byKey('auth.change', 60, 15);
  const changesOfCaller = byCaller('auth.change.ip', 600, 60);
  const passwordsOfCaller = byCaller('auth.password.ip', 60, 5);
  const newTokens = byKey('auth.token', 100, 24 * 60);

  const keyOfPair = (emailKey: string, caller: string) => hashOf(JSON.stringify([emailKey, caller]));

  const login = async (emailKey: string, ip: string | null, method: 'peek' | 'consume'): Promise<void> => {
    const caller = callerOf(ip);
    refuseWhenExhausted(
      await Promise.all([failures[method](keyOfPair(emailKey, caller)), failuresOfIp(caller, method)]),
    );
    // Counted last: one caller's refused guesses must not lock out others.
    const ofAddress = await failuresOfAddress[method](hashOf(emailKey));
    if (!ofAddress.allowed && !(await signInIps(emailKey)).map(callerOf).includes(caller))
      refuseWhenExhausted([ofAddress]);
  };
  /** Rejects a caller who failed too often (at this address or in total), or an address where other callers failed too often. */
  const checkLogin = (emailKey: string, ip: string | null) => login(emailKey, ip, 'peek');

  return {
    /** Counts every password attempt, right or wrong, as each occupies a core and delays others. Then does the same as `checkLogin`. */
    async countLogin(emailKey: string, ip: string | null) {
      await logins(ip);
      await checkLogin(emailKey, ip);
    },
    checkLogin,
    countFailedLogin: (emailKey: string, ip: string | null) => login(emailKey, ip, 'consume'),
    /** Resets the failures at this address, in total and for this caller: a new password makes earlier guesses irrelevant. */
    async forgetFailedLogins(emailKey: string, ip: string | null) {
      await Promise.all([failuresOfAddress.reset(hashOf(emailKey)), failures.reset(keyOfPair(emailKey, callerOf(ip)))]);
    },
    /** Counts an attempt to refresh, with any token. */
    countRefreshAttempt: byCaller('auth.refresh.ip', 1_000, 5),
    /** Counts a refresh of this session. */
    countRefresh: byKey('auth.refresh', scaled(60), 15),
    /** Counts a session that this account opens, and one that it refreshes: each is kept in the audit trail. */
    countOpened: opened,
    countRefreshed: refreshed,
    /** For an owner who sets a new password by mail: someone who knows the old one may have used up both. */
    async forgetSessions(userId: string) {
      await Promise.all([opened.reset(userId), refreshed.reset(userId)]);
    },
    /** Counts a personal token that this account creates, and a change by its caller. */
    async countNewToken(userId: string, ip: string | null) {
      await newTokens(userId);
      await changesOfCaller(ip);
    },
    /** Counts each setting separately: a stolen session, or a neighbour who renames accounts, must not keep an owner from a new password. */
    async countChange(userId: string, setting: 'name' | 'password' | 'email', ip: string | null) {
      await changes(`${setting}.${userId}`);
      if (setting === 'name') await changesOfCaller(ip); // others cost a hash
      if (setting === 'password') await passwordsOfCaller(ip); // each is mailed to an address that may be unconfirmed
    },
    countSignUp: byCaller('auth.sign-up.ip', 60, 5),
    /** Counts one step of a sign-in through a provider. */
    countProviderSignIn: byCaller('auth.provider.ip', 180, 5),
    countRecovery: byCaller('auth.recovery.ip', 60, 5),
    allowRecoveryMail: mails('auth.recovery', 5),
    /** Counted separately: mails that strangers request must not use up the recovery mails of the owner of the address. */
    allowConfirmationMail: mails('auth.confirmation', 5),
    /** For mails about completed changes. They are limited because the address of a new account is not confirmed. */
    allowNotice: mails('auth.notice', 20),
  };
}

/** Returns the key that identifies a caller by IP. */
export function callerOf(ip: string | null): string {
  return ip === null ? UNKNOWN_IP : networkOf(ip);
}

function refuseWhenExhausted(results: (LimiterResult | undefined)[]): void {
  const waits = results.filter((result) => result?.allowed === false).map((result) => result?.retryAfterSeconds ?? 0);
  if (waits.length > 0) throw rateLimited(Math.max(1, ...waits));
}
