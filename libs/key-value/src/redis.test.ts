import { randomUUID } from 'node:crypto';
import { createLog } from '@taskmesh/service';
import { atEnd, eventually, requiredAddress } from '@taskmesh/testing';
import { describeKeyValue } from './testing/key-value.contract.ts';
import { createRedisKeyValue } from './redis.ts';

const log = createLog({ service: 'test', level: 'silent' });
const connect = async () => {
  const store = createRedisKeyValue({ url: requiredAddress('REDIS_URL'), log });
  atEnd(() => store.close());
  await eventually(store.isUp);
  return store;
};

describeKeyValue('Redis', connect);

it('stores on one Redis share values and limits', async () => {
  const [here, there, id] = [await connect(), await connect(), randomUUID()];
  await here.set(id, 'value', { ttlSeconds: 60 });
  expect(await there.get(id)).toBe('value');

  const limiterOf = (store: typeof here) => store.limiter({ name: id, points: 2, windowSeconds: 60 });
  for (const store of [here, there]) await limiterOf(store).consume('k');
  expect((await limiterOf(here).consume('k')).allowed).toBe(false);
});
