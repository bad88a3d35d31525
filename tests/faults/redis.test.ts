import { connect } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { createRedisKeyValue, findRedisProblem, type KeyValue } from '@taskmesh/key-value';
import { findFreePort, startRedis } from '@taskmesh/local';
import { createLog } from '@taskmesh/service';
import { eventually, makeTempDir } from '@taskmesh/testing';

const port = await findFreePort();
const redis = await startRedis({ dataDir: join(makeTempDir(), 'redis'), log: () => undefined, port });
afterAll(() => redis.stop());
let store: KeyValue;

/** Sends a command to Redis over a separate connection. */
async function command(line: string): Promise<void> {
  const { password } = new URL(redis.url);
  const socket = connect(port, '127.0.0.1');
  socket.write(`AUTH ${password}\r\n${line}\r\nQUIT\r\n`);
  expect(await text(socket)).toBe('+OK\r\n+OK\r\n+OK\r\n');
}

const lines: { msg: string; reason?: string }[] = [];
const log = createLog({
  ...{ service: 'faults', level: 'info' },
  destination: { write: (line: string) => void lines.push(JSON.parse(line)) },
});

beforeEach(async () => {
  store = createRedisKeyValue({ url: redis.url, log });
  await eventually(store.isUp);
  lines.length = 0;
});
afterEach(() => store.close());

it('counts in memory while Redis answers reads but accepts no writes', async () => {
  const limiter = store.limiter({ name: 'unwritable', points: 2, windowSeconds: 600 });
  const consume = async () => (await limiter.consume('k')).allowed;
  await command('CONFIG SET min-replicas-to-write 1');
  expect([await consume(), await consume(), await consume()]).toEqual([true, true, false]);
  expect(await limiter.peek('k')).toMatchObject({ allowed: false });
  expect(await limiter.peek('another')).toMatchObject({ allowed: true });
  await command('CONFIG SET min-replicas-to-write 0');
  expect(await consume()).toBe(true); // counted in Redis from now on
  expect(await limiter.peek('k')).toMatchObject({ allowed: true });
});

it('reports a read-only replica, continues without it, and uses it once it is promoted', async () => {
  await command('REPLICAOF 127.0.0.1 1');
  await eventually(async () => {
    await store.set('key', 'value', { ttlSeconds: 60 });
    return !store.isUp() && lines.length > 0;
  });
  const reason = 'is a replica, which accepts no writes: REDIS_URL must point to the primary';
  expect(lines).toEqual([expect.objectContaining({ msg: 'Redis does not respond; continuing without it', reason })]);
  expect(await findRedisProblem({ url: redis.url })).toMatchObject({ reason });
  await command('REPLICAOF NO ONE');
  await eventually(store.isUp, { timeoutMs: 10_000 });
  await store.set('key', 'value', { ttlSeconds: 60 });
  expect(await store.get('key')).toBe('value');
});
