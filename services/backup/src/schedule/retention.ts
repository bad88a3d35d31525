import { isInFuture } from '../clock-skew.ts';

/** How many archives to keep: the newest, and the newest one of that many days, weeks, months and years (UTC). */
export type RetentionRules = Partial<Record<(typeof RETENTION_PERIODS)[number], number>>;

const RETENTION_PERIODS = ['last', 'daily', 'weekly', 'monthly', 'yearly'] as const;

const MAX_COUNT = 10_000;
const DAY_MS = 86_400_000;
/** 1970-01-01 was a Thursday: the first Monday is four days later. */
const FIRST_MONDAY_MS = 4 * DAY_MS;

/**
 * Parses `7` (the seven newest) or `last=3,daily=7,weekly=4,monthly=6,yearly=2`, each name at most once. Returns undefined
 * for any other text.
 */
export function parseRetentionRules(text: string): RetentionRules | undefined {
  if (/^\d+$/.test(text.trim())) return parseRetentionRules(`last=${text.trim()}`);
  const rules: RetentionRules = {};
  const parts = text.split(',').filter((part) => part.trim() !== ''); // empty parts are ignored in all lists
  if (parts.length === 0) return undefined;
  for (const part of parts) {
    const [, name, count] = /^\s*([a-z]+)\s*=\s*(\d+)\s*$/.exec(part) ?? [];
    const period = RETENTION_PERIODS.find((known) => known === name);
    const number = Number(count);
    if (!period || period in rules || number < 1 || number > MAX_COUNT) return undefined;
    rules[period] = number;
  }
  return rules;
}

/** Unfit archives are kept for inspection: at most this many, for this long after they were found unfit. */
export const MAX_UNFIT = 3;
export const MAX_UNFIT_DAYS = 14;

export interface Keepable {
  file: string;
  createdAt: Date;
  verifiedAt?: Date | null | undefined;
  unfitAt?: Date | null | undefined;
}

/**
 * Returns the archives that need not be kept. Verified and unverified ones are counted separately, so that good ones stay
 * even if many unfit or unverified ones follow; the newest of each kind always stays. Archives dated in the future count
 * as older than all others and never displace any.
 */
export function expiredArchives<Archive extends Keepable>(
  archives: Archive[],
  rules: RetentionRules,
  now: Date,
): Archive[] {
  const isUndated = ({ createdAt }: Archive) => isInFuture(createdAt, now);
  const byDate = archives.toSorted((one, other) => other.createdAt.getTime() - one.createdAt.getTime());
  const newestFirst = [...byDate.filter((archive) => !isUndated(archive)), ...byDate.filter(isUndated)];
  const unfit = newestFirst.filter(({ unfitAt }) => unfitAt);
  const verified = newestFirst.filter(({ unfitAt, verifiedAt }) => !unfitAt && verifiedAt);
  const unverified = newestFirst.filter(({ unfitAt, verifiedAt }) => !unfitAt && !verifiedAt);
  const isOld = ({ unfitAt, createdAt }: Archive) => {
    const at = unfitAt && !isInFuture(unfitAt, now) ? unfitAt : createdAt; // a clock was ahead, or is behind now
    return now.getTime() - at.getTime() >= MAX_UNFIT_DAYS * DAY_MS;
  };
  // If no archive is good, the verification itself may be at fault.
  const expiredUnfit = verified.length > 0 ? unfit.filter((archive, index) => index >= MAX_UNFIT || isOld(archive)) : beyondRules(unfit, rules); // prettier-ignore
  return [...expiredUnfit, ...beyondRules(verified, rules), ...beyondRules(unverified, rules)];
}

function beyondRules<Archive extends Keepable>(newestFirst: Archive[], rules: RetentionRules): Archive[] {
  const kept = new Set(newestFirst.slice(0, 1));
  for (const period of RETENTION_PERIODS) {
    const seen = new Set<string | number>();
    for (const archive of newestFirst) {
      const key = PERIOD_OF[period](archive);
      if (seen.has(key)) continue;
      if (seen.size === (rules[period] ?? 0)) break;
      seen.add(key);
      kept.add(archive);
    }
  }
  return newestFirst.filter((archive) => !kept.has(archive));
}

const PERIOD_OF: Record<(typeof RETENTION_PERIODS)[number], (archive: Keepable) => string | number> = {
  last: ({ file }) => file,
  daily: ({ createdAt }) => createdAt.toISOString().slice(0, 10),
  weekly: ({ createdAt }) => Math.floor((createdAt.getTime() - FIRST_MONDAY_MS) / (7 * DAY_MS)),
  monthly: ({ createdAt }) => createdAt.toISOString().slice(0, 7),
  yearly: ({ createdAt }) => createdAt.toISOString().slice(0, 4),
};
