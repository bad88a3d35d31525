import { ExpiringCache } from './expiring-cache.ts';

describe('a cache with expiring entries', () => {
  it('evicts the entry that was set longest ago', () => {
    const cache = new ExpiringCache<number>(2);
    for (const [key, value] of [['a', 1], ['b', 2], ['a', 3], ['c', 4]] as const) cache.set(key, value, 10); // prettier-ignore
    expect(['a', 'b', 'c'].map((key) => cache.get(key, 0))).toEqual([3, undefined, 4]);
  });

  it('frees the room of expired and deleted entries', () => {
    const cache = new ExpiringCache<number>(2);
    cache.set('a', 1, 100);
    cache.set('b', 2, 10);
    cache.get('b', 10);
    cache.set('c', 3, 100);
    expect(['a', 'c'].map((key) => cache.get(key, 0))).toEqual([1, 3]);
    cache.delete('c');
    cache.set('d', 4, 100);
    expect(['a', 'c', 'd'].map((key) => cache.get(key, 0))).toEqual([1, undefined, 4]);
  });
});
