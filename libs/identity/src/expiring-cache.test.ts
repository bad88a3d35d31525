import { ExpiringCache } from './expiring-cache.ts';

describe('a cache whose entries end', () => {
  it('gives a value up to the end of its time', () => {
    const cache = new ExpiringCache<string>(2);
    cache.set('a', 'one', 10);
    expect([cache.get('a', 9), cache.get('a', 10), cache.get('b', 0)]).toEqual(['one', undefined, undefined]);
  });

  it('makes room for a new entry by the one that was set the longest ago', () => {
    const cache = new ExpiringCache<number>(2);
    for (const [key, value] of [['a', 1], ['b', 2], ['a', 3], ['c', 4]] as const) cache.set(key, value, 10); // prettier-ignore
    expect(['a', 'b', 'c'].map((key) => cache.get(key, 0))).toEqual([3, undefined, 4]);
  });

  it('takes nothing away for a new value of what it holds, nor while there is room', () => {
    const cache = new ExpiringCache<number>(2);
    for (const [key, value] of [['a', 1], ['b', 2], ['b', 3]] as const) cache.set(key, value, 10); // prettier-ignore
    expect(['a', 'b'].map((key) => cache.get(key, 0))).toEqual([1, 3]);
  });

  it('has the room of an entry back that was found to be over, or deleted', () => {
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
