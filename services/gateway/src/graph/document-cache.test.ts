import { TextCache } from './document-cache.ts';

describe('a cache by text', () => {
  it('keeps what fits, and of the rest what was asked for last', () => {
    const cache = new TextCache<number>(6);
    cache.set('aa', 1);
    cache.set('bb', 2);
    cache.set('cc', 3);
    expect(cache.get('aa')).toBe(1);
    cache.set('dd', 4);
    expect([cache.get('aa'), cache.get('bb'), cache.get('cc'), cache.get('dd')]).toEqual([1, undefined, 3, 4]);
  });

  it('counts a text once, and keeps none that is too long', () => {
    const cache = new TextCache<number>(4);
    cache.set('aa', 1);
    cache.set('aa', 2);
    cache.set('bb', 3);
    expect([cache.get('aa'), cache.get('bb')]).toEqual([2, 3]);
    cache.set('ccccc', 4);
    expect(cache.get('ccccc')).toBeUndefined();
  });
});
