import { randomUUID } from 'node:crypto';
import { createLog } from '@taskmesh/service';
import { eventually, requiredAddress } from '@taskmesh/testing';
import { describeKeyValue } from './testing/key-value.contract.ts';
import type { KeyValue } from './key-value.ts';
import { createRedisKeyValue } from './redis.ts';

const log = createLog({ service: 'test', level: 'silent' });
const stores: KeyValue[] = [];
const connect = async () => {
  const store = createRedisKeyValue({ url: requiredAddress('REDIS_URL'), log });
  stores.push(store);
  await eventually(store.isUp);
  return store;
};

describeKeyValue('Redis', connect);

describe('stores on one Redis', () => {
  let here: KeyValue;
  let there: KeyValue;

  beforeAll(async () => {
    [here, there] = await Promise.all([connect(), connect()]);
  });
  afterAll(() => Promise.all(stores.map((store) => store.close())));

  it('share values and limits', async () => {
    const id = randomUUID();
    await here.set(id, 'value', { ttlSeconds: 60 });
    expect(await there.get(id)).toBe('value');

    const [limitHere, limitThere] = [here, there].map((store) =>
      store.limiter({ name: id, points: 2, windowSeconds: 60 }),
    );
    await limitHere?.consume('k');
    await limitThere?.consume('k');
    expect((await limitHere?.consume('k'))?.allowed).toBe(false);
  });
});
