import { newEmail } from '../http.ts';
import { clientOf } from './client.ts';
import { platformForTests } from './platform-for-tests.ts';

/**
 * The two-sample Kolmogorov-Smirnov test.
 * @returns p: how likely samples of one distribution differ at least as much as these (asymptotic, for more than about 40 in each)
 */
function sameDistribution(one: readonly number[], other: readonly number[]): number {
  const distance = largestGap(one, other);
  const size = Math.sqrt((one.length * other.length) / (one.length + other.length));
  const lambda = (size + 0.12 + 0.11 / size) * distance;
  if (lambda < 0.2) return 1; // the series converges slowly here, and is 1 to many digits
  let sum = 0;
  for (let term = 1; term <= 100; term++) sum += (term % 2 ? 2 : -2) * Math.exp(-2 * (term * lambda) ** 2);
  return Math.min(1, Math.max(0, sum));
}

/** The largest difference between the two empirical distribution functions. */
function largestGap(one: readonly number[], other: readonly number[]): number {
  const [left, right] = [one.toSorted(byValue), other.toSorted(byValue)];
  let [i, j, gap] = [0, 0, 0];
  while (i < left.length && j < right.length) {
    const value = Math.min(left[i] ?? 0, right[j] ?? 0);
    while (i < left.length && (left[i] ?? 0) <= value) i += 1;
    while (j < right.length && (right[j] ?? 0) <= value) j += 1;
    gap = Math.max(gap, Math.abs(i / left.length - j / right.length));
  }
  return gap;
}

const byValue = (one: number, other: number) => one - other;

const TRIES = 500;
const ACCOUNTS = TRIES / 10;
/** At most one run in a thousand may fail by chance. */
const CHANCE = 0.001;
/** The smallest difference that the run must be able to detect; otherwise, it proves nothing. A hash takes about ten times as long. */
const VISIBLE_MS = 1;

// One hash at a time, without other work.
const platform = platformForTests('start', () => ({ HASH_CONCURRENCY: '1', RATE_LIMIT_FACTOR: '0' }));
const client = clientOf(platform);

it(`the time that a refused login takes does not distinguish a known address from an unknown one in ${TRIES} tries of each`, async () => {
  const known: string[] = [];
  // Ten failures lock an address, known or not, so that each is tried at most that often.
  for (let count = 0; count < ACCOUNTS; count++) known.push((await client.signUp()).email);
  const unknown = known.map(() => newEmail());
  const timeOf = async (email: string) => {
    const began = performance.now();
    const { status } = await client.logIn(email, 'not the password');
    const tookMs = performance.now() - began;
    expect(status).toBe(401);
    return tookMs;
  };
  for (let warmUp = 0; warmUp < 50; warmUp++) await timeOf(newEmail());

  const times: Record<'known' | 'unknown', number[]> = { known: [], unknown: [] };
  for (let index = 0; index < TRIES; index++) {
    // Alternates the order, so that both kinds run under the same conditions.
    const turns = index % 2 ? (['known', 'unknown'] as const) : (['unknown', 'known'] as const);
    for (const kind of turns) times[kind].push(await timeOf({ known, unknown }[kind][index % ACCOUNTS] ?? ''));
  }
  const later = times.unknown.map((ms) => ms + VISIBLE_MS);
  expect(sameDistribution(times.unknown, later)).toBeLessThan(CHANCE);
  expect(sameDistribution(times.known, times.unknown)).toBeGreaterThan(CHANCE);
}, 180_000);
