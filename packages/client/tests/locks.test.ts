import { runExclusively } from '../src/locks.ts';

const property = Object.getOwnPropertyDescriptor(globalThis, 'navigator') ?? {};
const { navigator } = globalThis;

describe.each([
  ['with Web Locks', navigator],
  ['without Web Locks', undefined],
  ['where pages may not use Web Locks', { locks: { request: () => Promise.reject(new Error('SecurityError')) } }],
])('%s', (_where, value) => {
  beforeAll(() => Object.defineProperty(globalThis, 'navigator', { value, configurable: true }));
  afterAll(() => Object.defineProperty(globalThis, 'navigator', property));

  it('runs work of one name one at a time, in order, even after a failure', async () => {
    const happened: string[] = [];
    const work = (name: string) => async () => {
      happened.push(`${name} begins`);
      await new Promise((resolve) => setTimeout(resolve, 5));
      happened.push(`${name} ends`);
      if (name === 'first') throw new Error('failed');
      return name;
    };
    const first = runExclusively('lock', work('first'));
    const second = runExclusively('lock', work('second'));
    await expect(first).rejects.toThrow('failed');
    expect(await second).toBe('second');
    expect(happened).toEqual(['first begins', 'first ends', 'second begins', 'second ends']);
  });

  it('does not make other names wait', async () => {
    const held = Promise.withResolvers<void>();
    const first = runExclusively('one', () => held.promise);
    expect(await runExclusively('other', async () => 'done')).toBe('done');
    held.resolve();
    await first;
  });
});

it('Web Locks exist here, so that these tests cover them', () => expect(navigator?.locks).toBeDefined());
