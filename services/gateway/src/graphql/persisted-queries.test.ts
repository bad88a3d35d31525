import { createMemoryKeyValue } from '@taskmesh/key-value';
import { createHash } from 'node:crypto';
import { createPersistedQueries } from './persisted-queries.ts';

it('runs what the store has under a hash only if it is its text', async () => {
  const keyValue = createMemoryKeyValue();
  const text = '{ __typename }';
  const hash = createHash('sha256').update(text).digest('hex');
  const queries = createPersistedQueries(keyValue);
  expect(await queries.get(hash)).toBeUndefined();
  await keyValue.set(`apq:${hash}`, '{ me { id } }', { ttlSeconds: 60 });
  expect(await queries.get(hash)).toBeUndefined();
  await keyValue.set(`apq:${hash}`, text, { ttlSeconds: 60 });
  expect(await queries.get(hash)).toBe(text);
});

const hashOf = (text: string) => createHash('sha256').update(text).digest('hex');

it('keeps a document again that the store no longer has', async () => {
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

it('charges a caller nothing beyond the limit of its network', async () => {
  const keyValue = createMemoryKeyValue();
  const queries = createPersistedQueries(keyValue);
  const keep = async (caller: string, network: string, count: number) => {
    for (let at = 0; at < count; at++) {
      const text = `query ${caller}${at} { __typename }`;
      await queries.keep(hashOf(text), text, { caller, network });
    }
  };
  await keep('ada', 'office', 200);
  await keep('bob', 'office', 200);
  await keep('kim', 'office', 200);
  await keep('kim', 'home', 1);
  expect(await keyValue.get(`apq:${hashOf('query kim0 { __typename }')}`)).toBe('query kim0 { __typename }');
});
