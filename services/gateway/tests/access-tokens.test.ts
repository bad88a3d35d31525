import { createSigningKey } from '@taskmesh/identity';
import { createMemoryKeyValue } from '@taskmesh/key-value';
import { eventually, fastestOf } from '@taskmesh/testing';
import { once } from 'node:events';
import { startTestGateway, type TestGateway } from './fakes/gateway.ts';
import { openWebSocket, PROTOCOLS, streamBy } from './fakes/streams.ts';

const USER = 'a0000000-0000-4000-8000-000000000001';

let gateway: TestGateway;

beforeAll(async () => {
  gateway = await startTestGateway();
});
afterAll(() => gateway.stop());

const me = (authorization: string, at = gateway) => fetch(`${at.origin}/api/auth/me`, { headers: { authorization } });

describe('a good token', () => {
  it('ends with its session at every gateway, with or without what they share', async () => {
    const keyValue = createMemoryKeyValue();
    const first = await startTestGateway({ keyValue });
    const besides = [await startTestGateway({ beside: first, keyValue }), await startTestGateway({ beside: first })];
    const sibling = await first.auth.token(USER, { claims: { sid: 'goes-on' } });
    const round = async () => {
      const token = await first.auth.token(USER);
      for (const at of [first, ...besides]) expect((await me(`Bearer ${token}`, at)).status).toBe(200);
      const { body } = await first.graphql('mutation { logout }', { token });
      const loggedOut = performance.now();
      expect(body.data).toEqual({ logout: true });
      expect((await me(`Bearer ${token}`, first)).status).toBe(401);
      for (const at of besides) await eventually(async () => (await me(`bearer  ${token}`, at)).status === 401);
      return performance.now() - loggedOut;
    };
    expect(await fastestOf(round)).toBeLessThan(1_000);
    for (const at of [first, ...besides]) expect((await me(`Bearer ${sibling}`, at)).status).toBe(200);
    for (const at of [...besides, first]) await at.stop();
  });

  it('stays refused or taken while auth is away', async () => {
    const at = await startTestGateway();
    const ended = await at.auth.token(USER, { claims: { sid: 'ended' } });
    const living = await at.auth.token(USER);
    at.auth.end('ended');
    await eventually(async () => (await me(`Bearer ${ended}`, at)).status === 401);
    at.auth.failInternal(new Error('auth is away'));
    expect((await me(`Bearer ${ended}`, at)).status).toBe(401);
    expect((await me(`Bearer ${living}`, at)).status).toBe(200);
    expect((await fetch(`${at.origin}/readyz`)).status).toBe(200);
    await at.stop();
  });
});

describe('a key that was removed', () => {
  it('opens nothing any more, even where it was accepted before, and ends what it opened', async () => {
    const at = await startTestGateway();
    const old = await at.auth.token(USER);
    expect((await me(`Bearer ${old}`, at)).status).toBe(200);
    const begin = { origin: at.origin, query: 'subscription { taskChanges { sequence } }' };
    const openAll = (token: string) =>
      Promise.all(PROTOCOLS.map((protocol) => streamBy(protocol, { ...begin, token })));
    const ending = await openAll(old);
    await at.auth.rotate();
    const fresh = await at.auth.token(USER);
    await eventually(async () => (await me(`Bearer ${fresh}`, at)).status === 200);
    const staying = await openAll(fresh);
    expect(ending.map(({ ended }) => ended)).toEqual(ending.map(() => undefined));

    at.auth.retire();
    const stranger = await at.auth.token(USER, { key: await createSigningKey('stranger') });
    await eventually(async () => {
      await me(`Bearer ${stranger}`, at); // an unknown key triggers a reload, as the passing of time does
      expect((await me(`Bearer ${old}`, at)).status).toBe(401);
    });
    await eventually(() => expect(ending.filter(({ ended }) => !ended)).toEqual([]));
    expect(ending.map(({ ended }) => ended?.code)).toEqual([4403, undefined, undefined, 4401]);
    expect((await me(`Bearer ${fresh}`, at)).status).toBe(200);
    expect(staying.filter(({ ended }) => ended)).toEqual([]);
    await at.stop();
  });
});

describe('a gateway that has not heard from auth yet', () => {
  it('is not ready, and lets no one in: a token could have been logged out', async () => {
    const other = await startTestGateway();
    const token = await other.auth.token(USER);
    other.auth.failInternal(new Error('auth is away'));
    const at = await startTestGateway({ beside: other, waitUntilReady: false });
    const ready = await fetch(`${at.origin}/readyz`);
    expect(ready.status).toBe(503);
    expect(await ready.json()).toEqual({ status: 'unavailable' });
    expect((await fetch(`${at.origin}/livez`)).status).toBe(200);
    const refused = await me(`Bearer ${token}`, at);
    expect(refused.status).toBe(503);
    expect(refused.headers.get('retry-after')).toBe('1');
    // 4500 would make graphql-ws clients give up.
    const socket = await openWebSocket(`${at.origin}/graphql`, 'graphql-transport-ws');
    const closed = once(socket, 'close');
    socket.send(JSON.stringify({ type: 'connection_init', payload: { authorization: `Bearer ${token}` } }));
    expect((await closed)[0]).toBe(1013);
    other.auth.failInternal(undefined);
    await eventually(async () => (await fetch(`${at.origin}/readyz`)).status === 200, { timeoutMs: 15_000 });
    expect((await me(`Bearer ${token}`, at)).status).toBe(200);
    await at.stop();
    await other.stop();
  });
});
