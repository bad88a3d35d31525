import { randomUUID } from 'node:crypto';
import { createLog } from '@taskmesh/service';
import { atEnd, createFaultyProxy, eventually, type FaultyProxy, requiredAddress } from '@taskmesh/testing';
import { Redis } from 'ioredis';
import type { KeyValue } from './key-value.ts';
import { createRedisKeyValue } from './redis.ts';

/** The limit is about 200 ms; the rest allows for a busy machine. Without a timeout, calls would hang with Redis. */
const SLOWEST_MS = 5_000;
const TIME_OUT_MS = 200;
const CALLS = 25;

let proxy: FaultyProxy;
let store: KeyValue;
let lines: { level: string; msg: string; reason?: string }[];

const open = (url = throughProxy()): KeyValue => {
  const write = (line: string) => lines.push(JSON.parse(line));
  const log = createLog({ service: 'test', level: 'info', destination: { write } });
  return createRedisKeyValue({ url: url.href, log, checkMs: 500 });
};
const throughProxy = () => {
  const url = new URL(requiredAddress('REDIS_URL'));
  url.host = `${proxy.host}:${proxy.port}`;
  return url;
};
const timed = async <Result>(call: () => Promise<Result>) => {
  const begun = performance.now();
  const result = await call();
  return { result, ms: performance.now() - begun };
};
/** Makes many calls in sequence, and expects fewer than half of them to wait for the timeout. */
const expectAnswersAtOnce = async (call: () => Promise<unknown>) => {
  const { ms } = await timed(async () => {
    for (let count = 0; count < CALLS; count += 1) await call();
  });
  expect(ms).toBeLessThan((CALLS * TIME_OUT_MS) / 2);
};
const levels = () => lines.map(({ level }) => level);

beforeEach(async () => {
  const { hostname, port } = new URL(requiredAddress('REDIS_URL'));
  proxy = await createFaultyProxy({ host: hostname, port: Number(port || 6379) });
  lines = [];
  store = open();
});
afterEach(async () => {
  await store.close();
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
    expect(result).toBeNull();
    expect(store.isUp()).toBe(false);

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

describe('a connection that died silently', () => {
  it('is replaced', async () => {
    const id = randomUUID();
    await eventually(store.isUp);
    proxy.strand();
    await eventually(async () => {
      await store.set(id, 'value', { ttlSeconds: 60 });
      return (await store.get(id)) === 'value';
    });
  });
});

describe('a limiter', () => {
  const away: [string, () => unknown][] = [
    ['killed', () => proxy.cut()],
    ['frozen', () => proxy.freeze()],
  ];
  it.each(away)('continues with the counts of this process when Redis is %s', async (_, takeAway) => {
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
    const { allowed: left, retryAfterSeconds } = await limiter.peek('k');
    expect(left).toBe(false);
    expect(retryAfterSeconds).toBeGreaterThan(0);
  });
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
    const [redis, url, name] = [new Redis(requiredAddress('REDIS_URL')), throughProxy(), randomUUID()];
    atEnd(async () => (await redis.acl('DELUSER', name), redis.quit()));
    await redis.acl('SETUSER', name, 'on', '>password', '~*', '+@all', '-@write');
    [url.username, url.password] = [name, 'password'];
    const other = open(url);
    atEnd(() => other.close());
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
    const url = throughProxy();
    [url.username, url.password] = ['somebody', 'not-the-password'];
    const other = open(url);
    atEnd(() => other.close());
    await eventually(() => lines.length > 0);
    expect(await other.get('key')).toBeNull();
    expect(other.isUp()).toBe(false);
    expect(lines).toMatchObject([{ level: 'warn', reason: expect.stringContaining('WRONGPASS') }]);
    expect(JSON.stringify(lines)).not.toContain('not-the-password');
  });
});
