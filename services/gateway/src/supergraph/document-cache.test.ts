import { createDocumentCache } from './document-cache.ts';

describe('a cache of documents', () => {
  it('holds no more than its budget, and lets go of what was not asked for the longest', () => {
    const cache = createDocumentCache<{ name: number }>(400);
    for (let name = 0; name < 50; name++) cache.set(`document ${name}`, { name }, 10);
    expect(cache.bytes).toBe(100);
    expect(cache.get('document 0')).toBeUndefined();
    expect(cache.get('document 49')).toEqual({ name: 49 });
  });

  it('keeps what is asked for again, however many come once', () => {
    const cache = createDocumentCache<{ name: string }>(400);
    cache.set('hot', { name: 'hot' }, 10);
    cache.get('hot');
    for (let name = 0; name < 10_000; name++) cache.set(`cold ${name}`, { name: 'cold' }, 10);
    expect(cache.get('hot')).toEqual({ name: 'hot' });
  });

  it('bounds what is asked for again, too', () => {
    const cache = createDocumentCache<{ name: number }>(400);
    for (let name = 0; name < 1_000; name++) {
      cache.set(`document ${name}`, { name }, 10);
      cache.get(`document ${name}`);
    }
    expect(cache.bytes).toBe(300);
    expect(cache.get('document 0')).toBeUndefined();
    expect(cache.get('document 999')).toEqual({ name: 999 });
  });

  it('counts what its values grow by, and evicts for that', () => {
    const cache = createDocumentCache<{ name: string }>(400);
    const [first, second] = [{ name: 'first' }, { name: 'second' }];
    cache.set('first', first, 10);
    cache.set('second', second, 10);
    cache.resize('second', second, 50);
    expect(cache.bytes).toBe(70);
    cache.resize('second', second, 40);
    expect(cache.get('first')).toBeUndefined();
    expect(cache.bytes).toBe(100);
    cache.get('second');
    cache.resize('second', second, -60);
    expect(cache.bytes).toBe(40);
    cache.resize('first', first, 1_000);
    expect(cache.bytes).toBe(40);
  });

  it('keeps nothing that is larger than its part', () => {
    const cache = createDocumentCache<{ name: string }>(400);
    cache.set('large', { name: 'large' }, 101);
    expect(cache.get('large')).toBeUndefined();
    expect(cache.bytes).toBe(0);
  });
});
