import { jest } from '@jest/globals';
import type { Database, Session, Statement } from '@taskmesh/database';
import { FENCE_MS, openLease } from './lease.ts';

function fakeSession() {
  const lost = new AbortController();
  const session: Session = {
    lost: lost.signal,
    run: async () => [],
    listen: async () => undefined,
    close: async () => undefined,
  };
  const asked: Parameters<Database['openSession']>[0][] = [];
  const database: Pick<Database, 'openSession'> = {
    async openSession(options) {
      asked.push(options);
      return session;
    },
  };
  return { session, lost, database, asked };
}

describe('a lease', () => {
  it('is safe only for a while after the last answer, counted from its question', async () => {
    let nowMs = 0;
    const { database, session } = fakeSession();
    const lease = await openLease(database, { onNews: () => undefined, monotonicMs: () => nowMs });
    expect(lease.isSafe()).toBe(true);
    nowMs = FENCE_MS - 1;
    expect(lease.isSafe()).toBe(true);
    nowMs = FENCE_MS; // as after a freeze of the process
    expect(lease.isSafe()).toBe(false);

    session.run = async () => {
      nowMs += 2_000; // the answer took long
      return [];
    };
    await lease.read(1);
    nowMs += FENCE_MS - 2_001;
    expect(lease.isSafe()).toBe(true);
    nowMs += 1;
    expect(lease.isSafe()).toBe(false);
    await lease.end();
  });

  it('has the server end its session when the process is silent, but not before it is unsafe to publish', async () => {
    const { database, asked } = fakeSession();
    const lease = await openLease(database, { onNews: () => undefined, monotonicMs: () => 0 });
    const silence = /^(\d+)s$/.exec(asked[0]?.settings?.idle_session_timeout ?? '')?.[1];
    expect(Number(silence) * 1_000).toBeGreaterThan(FENCE_MS);
    await lease.end();
  });

  it('is not safe once the session is lost, however fresh the last answer', async () => {
    const { database, lost } = fakeSession();
    const lease = await openLease(database, { onNews: () => undefined, monotonicMs: () => 0 });
    expect(lease.isSafe()).toBe(true);
    lost.abort();
    expect(lease.isSafe()).toBe(false);
    await lease.end();
  });

  describe('asks the server', () => {
    let asked: [name: string, ...values: unknown[]][];
    let nowMs: number;
    const open = async (answers: Record<string, object[]> = {}) => {
      [asked, nowMs] = [[], 0];
      const { database, session, lost } = fakeSession();
      session.run = async <Row>({ name }: Statement, values: unknown[] = []) => {
        asked.push([name, ...values]);
        return (answers[name] ?? []) as Row[];
      };
      return { session, lost, lease: await openLease(database, { onNews: () => undefined, monotonicMs: () => nowMs }) };
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
      const { lease } = await open({ 'relay-claim': [{ part: 2 }, { part: 5 }] });
      await lease.claim();
      await lease.claim();
      expect(asked.map(([, , parts]) => parts)).toEqual([
        [0, 1, 2, 3, 4, 5, 6, 7],
        [0, 1, 3, 4, 6, 7],
      ]);
      expect([lease.heldParts(), lease.holds(2), lease.holds(3)]).toEqual([[2, 5], true, false]);
      const all = await open({ 'relay-claim': Array.from({ length: 8 }, (_, part) => ({ part })) });
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

    it('for a sign of life each second, one at a time, as long as it has its session', async () => {
      jest.useFakeTimers();
      const { lease, lost, session } = await open();
      const answers: (() => void)[] = [];
      session.run = ({ name }) => {
        asked.push([name]);
        return new Promise((resolve) => void answers.push(() => resolve([])));
      };
      await jest.advanceTimersByTimeAsync(3_000);
      expect(names()).toEqual(['relay-ping']);
      answers[0]?.();
      await jest.advanceTimersByTimeAsync(1_000);
      expect(names()).toEqual(['relay-ping']);
      session.run = () => (asked.push(['relay-ping']), Promise.reject(new Error('gone')));
      answers[1]?.();
      await jest.advanceTimersByTimeAsync(2_000);
      expect(names()).toHaveLength(2);
      lost.abort();
      await jest.advanceTimersByTimeAsync(2_000);
      expect(names()).toEqual([]);
      await lease.end();
      expect(jest.getTimerCount()).toBe(0);
      jest.useRealTimers();
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
