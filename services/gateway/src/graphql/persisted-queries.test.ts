import { createMemoryKeyValue } from '@taskmesh/key-value';
import { createHash } from 'node:crypto';
import { createPersistedQueries } from './persisted-queries.ts';

const hashOf = (text: string) => createHash('sha256').update(text).digest('hex');

it('runs a stored document only if it matches its hash', async () => {
  const keyValue = createMemoryKeyValue();
  const text = '{ __typename }';
  const hash = hashOf(text);
  const queries = createPersistedQueries(keyValue);
  expect(await queries.get(hash)).toBeUndefined();
  await keyValue.set(`apq:${hash}`, '{ me { id } }', { ttlSeconds: 60 });
  expect(await queries.get(hash)).toBeUndefined();
  await keyValue.set(`apq:${hash}`, text, { ttlSeconds: 60 });
  expect(await queries.get(hash)).toBe(text);
});

it('stores a document again after the store has lost it', async () => {
  const keyValue = createMemoryKeyValue();
  const queries = createPersistedQueries(keyValue);
  const text = '{ __typename }';
  const by = { caller: 'ada', network: '192.0.2.1' };
  await queries.keep(hashOf(text), text, by);
  await keyValue.set(`apq:${hashOf(text)}`, '', { ttlSeconds: 0 });
  expect(await keyValue.get(`apq:${hashOf(text)}`)).toBeNull();
  await queries.keep(hashOf(text), text, by);
  expect(await keyValue.get(`apq:${hashOf(text)}`)).toBe(text);
});

const textOf = (caller: string, at: number) => `mutation ${caller}${at} { logout }`;

function keepingOf() {
  const keyValue = createMemoryKeyValue();
  const queries = createPersistedQueries(keyValue);
  return {
    async keep(caller: string, network: string, count: number) {
      for (let at = 0; at < count; at++)
        await queries.keep(hashOf(textOf(caller, at)), textOf(caller, at), { caller, network });
    },
    has: async (caller: string, at: number) => (await keyValue.get(`apq:${hashOf(textOf(caller, at))}`)) !== null,
  };
}

it('counts a repeated document only once', async () => {
  const { keep, has } = keepingOf();
  for (let times = 0; times < 250; times++) await keep('ada', 'office', 1);
  await keep('ada', 'office', 200);
  expect(await has('ada', 199)).toBe(true);
});

it('does not charge a caller beyond the limit of its network', async () => {
  const { keep, has } = keepingOf();
  await keep('ada', 'office', 200);
  await keep('bob', 'office', 201);
  expect([await has('bob', 199), await has('bob', 200)]).toEqual([true, false]);
  await keep('kim', 'office', 200);
  expect(await has('kim', 0)).toBe(false);
  await keep('kim', 'home', 1);
  expect(await has('kim', 0)).toBe(true);
});

it('limits the number of new documents of all callers together', async () => {
  const { keep, has } = keepingOf();
  for (let caller = 0; caller < 10; caller++) await keep(`c${caller}x`, `${caller}`, 200);
  await keep('last', 'home', 1);
  expect([await has('c9x', 199), await has('last', 0)]).toEqual([true, false]);
});
