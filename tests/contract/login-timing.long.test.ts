import { clientOf, newEmail } from './client.ts';
import { sameDistribution } from './kolmogorov-smirnov.ts';
import { platformForTests } from './platform-for-tests.ts';

const TRIES = 500;
const ACCOUNTS = TRIES / 10;
/** One run in a thousand fails by chance, and no more. */
const CHANCE = 0.001;
/** A difference of this much has to show, or the run says nothing. A hash takes about ten times as long. */
const VISIBLE_MS = 1;

describe('the time that a refused login takes', () => {
  // One hash at a time, and nothing else to do.
  const platform = platformForTests('start', () => ({ HASH_CONCURRENCY: '1', RATE_LIMIT_FACTOR: '0' }));
  const client = clientOf(platform);

  it(`does not distinguish a known address from an unknown one in ${TRIES} tries of each`, async () => {
    const known: string[] = [];
    // Ten failures close an address, known or not: each is tried that often.
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
      // In turns, and each first as often as second, so that both meet the same machine.
      const turns = index % 2 ? (['known', 'unknown'] as const) : (['unknown', 'known'] as const);
      for (const kind of turns) times[kind].push(await timeOf({ known, unknown }[kind][index % ACCOUNTS] ?? ''));
    }
    const later = times.unknown.map((ms) => ms + VISIBLE_MS);
    expect(sameDistribution(times.unknown, later)).toBeLessThan(CHANCE);
    expect(sameDistribution(times.known, times.unknown)).toBeGreaterThan(CHANCE);
  }, 180_000);
});
