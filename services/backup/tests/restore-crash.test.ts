import { createTestDatabase, type TestDatabase } from '@taskmesh/testing';
import { randomBytes } from 'node:crypto';
import type { CrashPoint } from './support/backup-process.ts';
import { createCrashFixture, crash, runRestore } from './support/crash-points.ts';

const POINTS = 8;
const WAYS: CrashPoint['when'][] = ['before', 'sent', 'cut'];
const ROLE = `test_crash_${randomBytes(5).toString('hex')}`;

let server: TestDatabase;
beforeAll(async () => {
  server = await createTestDatabase('crash_roles');
  await server.query(`create role ${ROLE} superuser login password 'secret'`);
});
afterAll(async () => {
  await server.query(`drop role ${ROLE}`);
  await server.drop();
});

/** The stores of different administrators cannot share a transaction: a restore treats them as different servers. */
const asOther = () => {
  const url = new URL(server.url);
  url.username = ROLE;
  url.password = 'secret';
  return url.href;
};

describe('a restore that is killed, or loses a connection', () => {
  it.each([
    ['of one server', () => undefined],
    ['that have no transaction in common', asOther],
  ])(
    'at statements all over it, of stores %s, replaces all or nothing, and agrees with what was said',
    async (_what, authServer) => {
      const { fixture, close } = await createCrashFixture(authServer());
      try {
        const { said, statements } = await runRestore(fixture.config);
        expect(said).toMatchObject({ outcome: 'RESTORED' });
        const ends = [];
        for (let point = 0; point < POINTS; point++) {
          const when = WAYS[point % WAYS.length] ?? 'before';
          // More of them towards the end, where the stores are swapped.
          const statement = Math.ceil(statements * (0.4 + (0.6 * point) / (POINTS - 1)));
          ends.push(await crash(fixture, { statement, when }));
        }
        expect(ends.flatMap(({ contradictions }) => contradictions)).toEqual([]);
        expect(new Set(ends.map(({ isNew }) => isNew))).toEqual(new Set([true, false]));
      } finally {
        await close();
      }
    },
    240_000,
  );
});
