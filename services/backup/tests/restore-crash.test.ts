import { atEnd, createTestDatabase } from '@taskmesh/testing';
import { randomBytes } from 'node:crypto';
import type { CrashPoint } from './support/backup-process.ts';
import { createCrashFixture, crash } from './support/crash-points.ts';

// An ordinary run tries some of the points; a long run (npm run test:long) tries all.
const POINTS = process.env.TASKMESH_LONG ? Infinity : 6;
const WAYS: CrashPoint['when'][] = ['before', 'sent', 'cut'];
const ROLE = `test_crash_${randomBytes(5).toString('hex')}`;

const server = await createTestDatabase('crash_roles');
await server.query(`create role ${ROLE} superuser login password 'secret'`);
atEnd(() => server.query(`drop role ${ROLE}`));

/** Stores of different administrators cannot share a transaction, so a restore treats them as different servers. */
const asOther = () => {
  const url = new URL(server.url);
  url.username = ROLE;
  url.password = 'secret';
  return url.href;
};

function pointsOf(statements: number): CrashPoint[] {
  if (POINTS > statements)
    return WAYS.flatMap((when) => Array.from({ length: statements }, (_, index) => ({ when, statement: index + 1 })));
  // Most points are near the end, where the stores are swapped.
  const share = (point: number) => 0.4 + (0.6 * point) / (POINTS - 1);
  return Array.from({ length: POINTS }, (_, point) => ({
    when: WAYS[point % WAYS.length] ?? 'before',
    statement: Math.ceil(statements * share(point)),
  }));
}

describe('a restore that is killed or loses a connection', () => {
  it.each([
    ['on one server', () => undefined],
    ['that cannot share a transaction', asOther],
  ])(
    'at any statement replaces all or nothing, and agrees with its response, for stores %s',
    async (_what, authServer) => {
      const fixture = await createCrashFixture(authServer());
      atEnd(() => fixture.close());
      const { said, statements } = await fixture.runRestore();
      expect(said).toMatchObject({ outcome: 'RESTORED' });
      const ends = [];
      for (const point of pointsOf(statements)) ends.push(await crash(fixture, point));
      expect(ends.flatMap(({ contradictions }) => contradictions)).toEqual([]);
      expect(new Set(ends.map(({ isNew }) => isNew))).toEqual(new Set([true, false]));
    },
    POINTS === Infinity ? 7_200_000 : 240_000,
  );
});
