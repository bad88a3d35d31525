import { ExpiringCache } from './expiring-cache.ts';

it('a cache with expiring entries evicts the entry that was set longest ago', () => {
  const cache = new ExpiringCache<number>(2);
  for (const [key, value] of [['a', 1], ['b', 2], ['a', 3], ['c', 4]] as const) cache.set(key, value, { until: 10, now: 0 }); // prettier-ignore
  expect(['a', 'b', 'c'].map((key) => cache.get(key, 0))).toEqual([3, undefined, 4]);
});

it('a cache with expiring entries frees the room of expired and deleted entries', () => {
  const cache = new ExpiringCache<number>(2);
  const set = (key: string, value: number, until = 100) => cache.set(key, value, { until, now: 0 });
  set('a', 1);
  set('b', 2, 10);
  cache.get('b', 10);
  set('c', 3);
  expect(['a', 'c'].map((key) => cache.get(key, 0))).toEqual([1, 3]);
  cache.delete('c');
  set('d', 4);
  expect(['a', 'c', 'd'].map((key) => cache.get(key, 0))).toEqual([1, undefined, 4]);
});

it('a cache with expiring entries keeps no expired entries that nothing asks for', () => {
  const cache = new ExpiringCache<number>(9);
  for (const until of [10, 20, 30]) cache.set(`until ${until}`, until, { until, now: 0 });
  cache.set('new', 1, { until: 60, now: 20 });
  expect([10, 20, 30].map((until) => cache.get(`until ${until}`, 0))).toEqual([undefined, undefined, 30]);
});
