import { startSecondServer } from '../support/second-server.ts';
import { tryHostileDumps } from './try-hostile-dumps.ts';

const PARTS = 1;
const DUMPS = 400;
const THEMES = 17;

/** Of its own: others change roles and origins meanwhile. */
let server: Awaited<ReturnType<typeof startSecondServer>>;
beforeAll(async () => {
  server = await startSecondServer();
}, 180_000);
afterAll(() => server.stop());

describe('thousands of dumps that try to do more than bring rows', () => {
  it.each(Array.from({ length: PARTS }, (_, part) => part + 1))(
    'bring rows or are refused, and do nothing else: part %i',
    async (part) => {
      const tally = await tryHostileDumps(
        Array.from({ length: DUMPS }, (_, index) => 600 + part * DUMPS + index),
        server.url,
      );
      console.info(JSON.stringify(tally));
      const sum = (key: 'loaded' | 'refused' | 'isNoSql') =>
        Object.values(tally).reduce((total, counts) => total + counts[key], 0);
      expect(Object.keys(tally)).toHaveLength(THEMES);
      expect(sum('loaded') + sum('refused') + sum('isNoSql')).toBe(DUMPS);
      expect([sum('loaded') > DUMPS / 4, sum('refused') > DUMPS / 4, sum('isNoSql') < DUMPS / 20]).toEqual([true, true, true]); // prettier-ignore
    },
    3_600_000,
  );
});
