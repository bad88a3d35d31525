import type { Database, Session, Statement } from '@taskmesh/store';
import { openLease } from './relay.repository.ts';

function fakeSession() {
  const lost = new AbortController();
  const session: Session = {
    lost: lost.signal,
    run: async () => [],
    listen: async () => undefined,
    close: async () => undefined,
  };
  const database: Pick<Database, 'openSession'> = { openSession: async () => session };
  return { session, database };
}

describe('a lease', () => {
  it('closes its session when it cannot listen', async () => {
    const { database, session } = fakeSession();
    let closed = 0;
    session.close = async () => void closed++;
    session.listen = () => Promise.reject(new Error('permission denied'));
    const opening = openLease(database, { onNews: () => undefined, monotonicMs: () => 0 });
    await expect(opening).rejects.toThrow('permission denied');
    expect(closed).toBe(1);
  });

  describe('asks the server', () => {
    let asked: [name: string, ...values: unknown[]][];
    let nowMs: number;
    const open = async (answers: Record<string, object[]> = {}) => {
      [asked, nowMs] = [[], 0];
      const { database, session } = fakeSession();
      session.run = async <Row>({ name }: Statement, values: unknown[] = []) => {
        asked.push([name, ...values]);
        return (answers[name] ?? []) as Row[];
      };
      return { lease: await openLease(database, { onNews: () => undefined, monotonicMs: () => nowMs }) };
    };
    const names = () => asked.splice(0).map(([name]) => name);
    const idsUpTo = (count: number) => Array.from({ length: count }, (_, n) => String(n + 1));

    it('to mark a few together with the next read, many before it, and each once', async () => {
      const { lease } = await open();
      await lease.read(10);
      names();
      for (const [count, expected] of [
        [1, ['relay-mark-and-read']],
        [50, ['relay-mark-and-read']],
        [51, ['relay-mark', 'relay-read']],
      ] as const) {
        lease.markLater(idsUpTo(count));
        await lease.read(10);
        const [first] = asked;
        expect(first?.at(-1)).toEqual(idsUpTo(count));
        expect(names()).toEqual(expected);
      }
      await lease.read(10);
      expect(names()).toEqual(['relay-read']);
      lease.markLater(['9']);
      await lease.end();
      expect(asked).toEqual([['relay-mark', ['9']]]);
    });

    it('for the parts that it does not have, and no more once it has all', async () => {
      const { lease } = await open({ 'lock-session-claim': [{ lock: 2 }, { lock: 5 }] });
      await lease.claim();
      await lease.claim();
      expect(asked.map(([, , parts]) => parts)).toEqual([
        [0, 1, 2, 3, 4, 5, 6, 7],
        [0, 1, 3, 4, 6, 7],
      ]);
      expect([lease.heldParts(), lease.holds(2), lease.holds(3)]).toEqual([[2, 5], true, false]);
      const all = await open({ 'lock-session-claim': Array.from({ length: 8 }, (_, lock) => ({ lock })) });
      await all.lease.claim();
      await all.lease.claim();
      expect(asked).toHaveLength(1);
      await lease.end();
      await all.lease.end();
    });

    it('who writes, four times a second at the most, and only as long as something may move', async () => {
      const { lease } = await open({ 'relay-writers': [{ last: '5', writers: [] }] });
      const looks = async (atMs: number) => {
        nowMs = atMs;
        await lease.read(10);
        return names().includes('relay-writers');
      };
      const seen: boolean[] = [];
      for (const atMs of [0, 249, 250, 500, 750, 1_000]) seen.push(await looks(atMs));
      expect(seen).toEqual([true, false, true, true, false, false]);
      await lease.end();
    });

    it('for the changes of those who wait, each from its place on', async () => {
      const { lease } = await open();
      await lease.readOwed([
        { ownerId: 'a', sequence: '3', most: 10 },
        { ownerId: 'b', sequence: '1', most: 20 },
      ] as never);
      expect(asked).toEqual([['relay-read-owed', ['a', 'b'], ['3', '1'], [10, 20]]]);
      await lease.end();
    });

    it('for the epoch of its store, which it must have', async () => {
      const { lease } = await open({ 'relay-epoch': [{ epoch: 4 }] });
      expect(await lease.epoch()).toBe(4);
      await lease.end();
      const without = await open();
      await expect(without.lease.epoch()).rejects.toThrow('feed state');
      await without.lease.end();
    });
  });
});
