import { exclusively } from '../src/locks.ts';

const property = Object.getOwnPropertyDescriptor(globalThis, 'navigator') ?? {};
const { navigator } = globalThis;

describe.each([
  ['where there are Web Locks', navigator],
  ['where there are none', undefined],
  ['where pages may not use them', { locks: { request: () => Promise.reject(new Error('SecurityError')) } }],
])('%s', (_where, value) => {
  beforeAll(() => Object.defineProperty(globalThis, 'navigator', { value, configurable: true }));
  afterAll(() => Object.defineProperty(globalThis, 'navigator', property));

  it('one runs at a time, in turn, also behind one that failed', async () => {
    const happened: string[] = [];
    const work = (name: string) => async () => {
      happened.push(`${name} begins`);
      await new Promise((resolve) => setTimeout(resolve, 5));
      happened.push(`${name} ends`);
      if (name === 'first') throw new Error('failed');
      return name;
    };
    const first = exclusively('lock', work('first'));
    const second = exclusively('lock', work('second'));
    await expect(first).rejects.toThrow('failed');
    expect(await second).toBe('second');
    expect(happened).toEqual(['first begins', 'first ends', 'second begins', 'second ends']);
  });

  it('other names do not wait', async () => {
    const held = Promise.withResolvers<void>();
    const first = exclusively('one', () => held.promise);
    expect(await exclusively('other', async () => 'done')).toBe('done');
    held.resolve();
    await first;
  });
});

it('this machine has them, or only half of this is tried', () => expect(navigator?.locks).toBeDefined());
