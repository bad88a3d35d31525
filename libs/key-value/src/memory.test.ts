import { describeKeyValue } from './testing/key-value.contract.ts';
import { setTimeout } from 'node:timers/promises';
import { atEnd } from '@taskmesh/testing';
import { createMemoryKeyValue } from './memory.ts';

describeKeyValue('memory', () => createMemoryKeyValue());

it('forgets a value when its lifetime ends, even if the clock was set back meanwhile', async () => {
  const store = createMemoryKeyValue();
  await store.set('key', 'value', { ttlSeconds: 0.05 });
  jest.spyOn(Date, 'now').mockReturnValue(Date.now() - 3_600_000);
  atEnd(() => jest.restoreAllMocks());
  atEnd(() => store.close());
  await setTimeout(60);
  expect(await store.get('key')).toBeNull();
});
