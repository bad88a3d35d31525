import { createCrashFixture, crash, runRestore, type CrashPoint } from './support/crash-points.ts';
import { startSecondServer } from './support/second-server.ts';

const WAYS: CrashPoint['when'][] = ['before', 'sent', 'cut'];

let second: Awaited<ReturnType<typeof startSecondServer>>;
beforeAll(async () => {
  second = await startSecondServer();
}, 60_000);
afterAll(() => second.stop());

describe('a restore of two stores', () => {
  const cases = WAYS.flatMap((when) => [
    [when, 'one server', (): string | undefined => undefined] as const,
    [when, 'two servers', (): string | undefined => second.url] as const,
  ]);

  it.each(cases)(
    'that ends at any statement (%s) replaces all or nothing: %s',
    async (when, _where, authServer) => {
      const { fixture, close } = await createCrashFixture(authServer());
      try {
        const { statements } = await runRestore(fixture.config);
        expect(statements).toBeGreaterThan(100);
        const contradictions = [];
        const ends = { old: 0, new: 0 };
        for (let statement = 1; statement <= statements; statement++) {
          const end = await crash(fixture, { statement, when });
          ends[end.isNew ? 'new' : 'old'] += 1;
          for (const contradiction of end.contradictions)
            contradictions.push(`statement ${statement}: ${contradiction}`);
        }
        expect(contradictions).toEqual([]);
        expect(ends).toEqual({ old: expect.any(Number), new: expect.any(Number) });
        expect(Math.min(ends.old, ends.new)).toBeGreaterThan(0);
      } finally {
        await close();
      }
    },
    3_600_000,
  );
});
