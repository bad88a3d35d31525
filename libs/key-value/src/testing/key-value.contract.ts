import { randomUUID } from 'node:crypto';
import { eventually, fastestOf } from '@taskmesh/testing';
import type { KeyValue } from '../key-value.ts';

/** The contract of every KeyValue adapter. `create` returns stores that share their content. */
export function describeKeyValue(name: string, create: () => KeyValue | Promise<KeyValue>): void {
  describe(`key-value store: ${name}`, () => {
    let store: KeyValue;
    const fresh = (what: string) => `${what}:${randomUUID()}`;

    beforeAll(async () => {
      store = await create();
    });
    afterAll(() => store.close());

    describe('values', () => {
      it('returns the value of a key, and null for a key that was never set', async () => {
        const key = fresh('key');
        expect(await store.get(key)).toBeNull();
        await store.set(key, 'žluťoučký 🐎', { ttlSeconds: 60 });
        expect(await store.get(key)).toBe('žluťoučký 🐎');
      });

      it('forgets a value when its lifetime ends, even within a fraction of a second', async () => {
        const [short, long] = [fresh('short'), fresh('long')];
        await store.set(long, 'stays', { ttlSeconds: 60 });
        await store.set(short, 'goes', { ttlSeconds: 0.3 });
        expect(await store.get(short)).toBe('goes');
        await eventually(async () => (await store.get(short)) === null, { timeoutMs: 10_000 });
        expect(await store.get(long)).toBe('stays');
      });

      it.each([0, -5])('deletes the key for a lifetime of %d seconds', async (ttlSeconds) => {
        const key = fresh('key');
        await store.set(key, 'before', { ttlSeconds: 60 });
        await store.set(key, 'value', { ttlSeconds });
        expect(await store.get(key)).toBeNull();
      });
    });

    describe('limiter', () => {
      it('returns in whole seconds when the window ends', async () => {
        const limiter = store.limiter({ name: fresh('limit'), points: 1, windowSeconds: 60 });
        await limiter.consume('k');
        const { allowed, retryAfterSeconds } = await limiter.consume('k');
        expect([allowed, Number.isInteger(retryAfterSeconds)]).toEqual([false, true]);
        expect(retryAfterSeconds).toBeGreaterThan(50);
        expect(retryAfterSeconds).toBeLessThanOrEqual(60);
      });

      it('peeks without consuming points', async () => {
        const limiter = store.limiter({ name: fresh('limit'), points: 2, windowSeconds: 60 });
        expect(await limiter.peek('k')).toEqual({ allowed: true, retryAfterSeconds: 0 });
        await limiter.consume('k');
        for (let count = 0; count < 3; count += 1) expect((await limiter.peek('k')).allowed).toBe(true);
        await limiter.consume('k');
        const used = await limiter.peek('k');
        expect([used.allowed, used.retryAfterSeconds > 0]).toEqual([false, true]);
      });

      it('counts each key and each limit separately', async () => {
        const points = { points: 1, windowSeconds: 60 };
        const [one, two] = [fresh('limit'), fresh('limit')].map((name) => store.limiter({ name, ...points }));
        expect((await one?.consume('a'))?.allowed).toBe(true);
        expect((await one?.consume('b'))?.allowed).toBe(true);
        expect((await two?.consume('a'))?.allowed).toBe(true);
        expect((await one?.consume('a'))?.allowed).toBe(false);
      });

      it('shares counts between limiters of the same name, each with its own limit', async () => {
        const name = fresh('limit');
        const [one, two] = [2, 3].map((points) => store.limiter({ name, points, windowSeconds: 60 }));
        const results = [];
        for (const limiter of [one, two, one, two]) results.push((await limiter?.consume('k'))?.allowed);
        expect(results).toEqual([true, true, false, false]);
        expect([(await one?.peek('k'))?.allowed, (await two?.peek('k'))?.allowed]).toEqual([false, false]);
        await two?.reset('k');
        expect((await one?.consume('k'))?.allowed).toBe(true);
      });

      it('starts over when the window ends, which refused attempts do not extend', async () => {
        const limiter = store.limiter({ name: fresh('limit'), points: 1, windowSeconds: 1 });
        const round = async () => {
          const key = fresh('key');
          const begun = performance.now();
          await limiter.consume(key);
          await eventually(async () => (await limiter.consume(key)).allowed, { timeoutMs: 10_000, everyMs: 50 });
          return performance.now() - begun;
        };
        expect(await fastestOf(round)).toBeLessThan(2_000);
      });

      it('grants each point once to concurrent calls', async () => {
        const limiter = store.limiter({ name: fresh('limit'), points: 10, windowSeconds: 60 });
        const results = await Promise.all(Array.from({ length: 30 }, () => limiter.consume('k')));
        expect(results.filter(({ allowed }) => allowed)).toHaveLength(10);
      });
    });

    it('still returns quietly after it was closed', async () => {
      const closed = await create();
      expect(closed.isUp()).toBe(true);
      await closed.close();
      expect(closed.isUp()).toBe(false);
      await closed.set('key', 'value', { ttlSeconds: 60 });
      expect(await closed.get('key')).toBeNull();
      await closed.close();
    });
  });
}
