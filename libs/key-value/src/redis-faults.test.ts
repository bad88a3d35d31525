import { randomUUID } from 'node:crypto';
import type { Log } from '@taskmesh/service';
import { createRecordingLog, type LogLine } from '@taskmesh/service/testing';
import { atEnd, createProxyFor, eventually, type FaultyProxy, requiredAddress } from '@taskmesh/testing';
import { Redis } from 'ioredis';
import type { KeyValue } from './key-value.ts';
import { createRedisKeyValue } from './redis.ts';

/** The limit is about 200 ms; the rest allows for a busy machine. Without a timeout, calls would hang with Redis. */
const SLOWEST_MS = 5_000;
const TIME_OUT_MS = 200;
const CALLS = 25;

let proxy: FaultyProxy;
/** The URL of Redis behind the proxy. */
let proxied: string;
let store: KeyValue;
let log: Log;
let lines: LogLine[];

/** Opens a store through the proxy. */
const open = (login: { username?: string; password?: string } = {}): KeyValue => {
  const { href: url } = Object.assign(new URL(proxied), login);
  const opened = createRedisKeyValue({ url, log, checkMs: 500 });
  atEnd(() => opened.close());
  return opened;
};
const timed = async <Result>(call: () => Promise<Result>) => {
  const begun = performance.now();
  return { result: await call(), ms: performance.now() - begun };
};
/** Makes many calls in sequence, and expects fewer than half of them to wait for the timeout. */
const expectAnswersAtOnce = async (call: () => Promise<unknown>) => {
  const begun = performance.now();
  for (let count = 0; count < CALLS; count += 1) await call();
  expect(performance.now() - begun).toBeLessThan((CALLS * TIME_OUT_MS) / 2);
};
const levels = () => lines.map(({ level }) => level);

beforeEach(async () => {
  ({ proxy, url: proxied } = await createProxyFor(requiredAddress('REDIS_URL')));
  ({ log, lines } = createRecordingLog());
  store = open();
});

describe('a Redis that is down at startup', () => {
  beforeEach(async () => {
    await store.close();
    await proxy.cut();
    store = open();
  });

  it('delays no caller, and is used as soon as it is up', async () => {
    const id = randomUUID();
    const { result, ms } = await timed(() => store.get(id));
    expect(ms).toBeLessThan(SLOWEST_MS);
    expect([result, store.isUp()]).toEqual([null, false]);

    await proxy.restore();
    await eventually(store.isUp);
    await eventually(async () => {
      await store.set(id, 'value', { ttlSeconds: 60 });
      return (await store.get(id)) === 'value';
    });
  });

  it('is reported once, as is its recovery, however many connection attempts failed', async () => {
    const begun = proxy.connections();
    await eventually(() => levels().length === 1);
    await proxy.restore();
    await eventually(store.isUp);
    proxy.freeze();
    await proxy.cut();
    await proxy.restore();
    proxy.thaw();
    await eventually(() => proxy.connections() > begun + 1 && store.isUp() && levels().length >= 4);
    expect(levels()).toEqual(['warn', 'info', 'warn', 'info']);
  });
});

describe('a frozen Redis', () => {
  beforeEach(() => eventually(store.isUp));

  it('delays no call by more than the timeout, and soon none at all', async () => {
    proxy.freeze();
    const calls: (() => Promise<unknown>)[] = [
      () => store.get('key'),
      () => store.set('key', 'value', { ttlSeconds: 60 }),
    ];
    for (const call of calls) expect((await timed(call)).ms).toBeLessThan(SLOWEST_MS);
    for (const call of calls) await expectAnswersAtOnce(call);
    expect(store.isUp()).toBe(false);
  });

  it('is detected by an idle process, which opens another connection', async () => {
    const begun = proxy.connections();
    proxy.freeze();
    await eventually(() => !store.isUp());
    await eventually(() => proxy.connections() > begun);
    proxy.thaw();
    await eventually(store.isUp);
  });
});

it('a connection that died silently is replaced', async () => {
  const id = randomUUID();
  await eventually(store.isUp);
  proxy.strand();
  await eventually(async () => {
    await store.set(id, 'value', { ttlSeconds: 60 });
    return (await store.get(id)) === 'value';
  });
});

const away: [string, () => unknown][] = [
  ['killed', () => proxy.cut()],
  ['frozen', () => proxy.freeze()],
];
it.each(away)('a limiter continues with the counts of this process when Redis is %s', async (_, takeAway) => {
  await eventually(store.isUp);
  const limiter = store.limiter({ name: randomUUID(), points: 10, windowSeconds: 60 });
  for (let count = 1; count <= 6; count += 1) await limiter.consume('k');
  await takeAway();
  const allowed = [];
  for (let count = 7; count <= 12; count += 1) {
    const { result, ms } = await timed(() => limiter.consume('k'));
    expect(ms).toBeLessThan(SLOWEST_MS);
    allowed.push(result.allowed);
  }
  expect(allowed).toEqual([true, true, true, true, false, false]);
  const left = await limiter.peek('k');
  expect([left.allowed, left.retryAfterSeconds > 0]).toEqual([false, true]);
});

describe('a Redis that refuses commands', () => {
  it('makes reads return null, is reported once per kind of refusal, and is still used', async () => {
    await eventually(store.isUp);
    const id = randomUUID();
    const redis = new Redis(requiredAddress('REDIS_URL'));
    await redis.lpush(`taskmesh:${id}`, 'a list, not a value');
    await redis.quit();
    for (let count = 0; count < 5; count += 1) expect(await store.get(id)).toBeNull();
    expect(store.isUp()).toBe(true);
    expect(lines).toMatchObject([{ level: 'warn', msg: 'Redis refuses a command' }]);
    await store.set(id, '', { ttlSeconds: 0 });
  });

  it('is not up from a refused write to the next one that is accepted', async () => {
    const [redis, name] = [new Redis(requiredAddress('REDIS_URL')), randomUUID()];
    atEnd(async () => (await redis.acl('DELUSER', name), redis.quit()));
    await redis.acl('SETUSER', name, 'on', '>password', '~*', '+@all', '-@write');
    const other = open({ username: name, password: 'password' });
    await eventually(other.isUp);
    const limiter = other.limiter({ name, points: 1, windowSeconds: 60 });
    for (const write of [() => other.set(name, 'value', { ttlSeconds: 60 }), () => limiter.consume(name)]) {
      await write();
      await other.get(name);
      expect(other.isUp()).toBe(false);
      await redis.acl('SETUSER', name, '+@write');
      await write();
      expect(other.isUp()).toBe(true);
      await redis.acl('SETUSER', name, '-@write');
    }
  });

  it('reports a wrong password without revealing it', async () => {
    const other = open({ username: 'somebody', password: 'not-the-password' });
    await eventually(() => lines.length > 0);
    expect(await other.get('key')).toBeNull();
    expect(other.isUp()).toBe(false);
    expect(lines).toMatchObject([{ level: 'warn', reason: expect.stringContaining('WRONGPASS') }]);
    expect(JSON.stringify(lines)).not.toContain('not-the-password');
  });
});
