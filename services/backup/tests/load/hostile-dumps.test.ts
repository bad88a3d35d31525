import { startSecondServer } from '../support/second-server.ts';
import { tryHostileDumps } from './try-hostile-dumps.ts';

const isLong = process.env.TASKMESH_LONG !== undefined;
/** All themes; a long run (npm run test:long) tries each many times. */
const DUMPS = isLong ? 460 : 51;
const THEMES = 17;

/** Of its own: others change roles and origins meanwhile. */
let server: Awaited<ReturnType<typeof startSecondServer>> | undefined;
beforeAll(async () => {
  if (isLong) server = await startSecondServer();
}, 180_000);
afterAll(() => server?.stop());

it('a dump that tries to do more than bring rows brings rows or is refused, and does nothing else', async () => {
  const seeds = Array.from({ length: DUMPS }, (_, index) => index + 1);
  const tally = Object.values(await tryHostileDumps(seeds, server?.url));
  const sum = (key: 'loaded' | 'refused' | 'isNoSql') => tally.reduce((total, counts) => total + counts[key], 0);
  expect(tally).toHaveLength(THEMES);
  // Some get through: what they try is passed over.
  expect([sum('loaded') > DUMPS / 6, sum('refused') > DUMPS / 4, sum('isNoSql') < DUMPS / 10]).toEqual([true, true, true]);
}, 3_600_000); // prettier-ignore
