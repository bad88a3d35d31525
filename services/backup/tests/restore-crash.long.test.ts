import type { CrashPoint } from './support/backup-process.ts';
import { createCrashFixture, crash, runRestore } from './support/crash-points.ts';
import { startSecondServer } from './support/second-server.ts';

const WAYS: CrashPoint['when'][] = ['before', 'sent', 'cut'];
/** So that they can be run one by one. */
const PARTS = 10;

let second: Awaited<ReturnType<typeof startSecondServer>>;
beforeAll(async () => {
  second = await startSecondServer();
}, 180_000);
afterAll(() => second.stop());

describe('a restore of two stores', () => {
  const cases = WAYS.flatMap((when) =>
    ['one server', 'two servers'].flatMap((where) =>
      Array.from({ length: PARTS }, (_, part) => ({ when, where, part: part + 1 })),
    ),
  );

  it.each(cases)(
    'that ends at any statement ($when) replaces all or nothing: $where, part $part',
    async ({ when, where, part }) => {
      const { fixture, close } = await createCrashFixture(where === 'two servers' ? second.url : undefined);
      try {
        const { statements } = await runRestore(fixture.config);
        expect(statements).toBeGreaterThan(100);
        const contradictions = [];
        const ends = { old: 0, new: 0 };
        for (let statement = part; statement <= statements; statement += PARTS) {
          const end = await crash(fixture, { statement, when });
          ends[end.isNew ? 'new' : 'old'] += 1;
          for (const contradiction of end.contradictions)
            contradictions.push(`statement ${statement}: ${contradiction}`);
        }
        console.info(`${when}, ${where}, part ${part} of ${statements} statements:`, JSON.stringify(ends));
        expect(contradictions).toEqual([]);
        expect(ends.old).toBeGreaterThan(0);
      } finally {
        await close();
      }
    },
    600_000,
  );
});
