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
