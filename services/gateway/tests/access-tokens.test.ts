import { createSigningKey } from '@taskmesh/identity';
import { eventually } from '@taskmesh/testing';
import { once } from 'node:events';
import { startTestGateway, type TestGateway, useGateway, USER } from './fakes/gateway.ts';
import { openWebSocket, PROTOCOLS, streamBy } from './fakes/streams.ts';

const gateway = useGateway();

const me = (token: string, { origin } = gateway) =>
  fetch(`${origin}/api/auth/me`, { headers: { authorization: `Bearer ${token}` } });
const statusOf = async (token: string, at?: TestGateway) => (await me(token, at)).status;

it('tokens stay rejected or accepted while auth is unavailable', async () => {
  const ended = await gateway.auth.token(USER, { claims: { sid: 'ended' } });
  const active = await gateway.auth.token(USER);
  gateway.auth.end('ended');
  await eventually(async () => expect(await statusOf(ended)).toBe(401));
  gateway.auth.failInternal(new Error('auth is unavailable'));
  expect([await statusOf(ended), await statusOf(active)]).toEqual([401, 200]);
  expect((await fetch(`${gateway.origin}/readyz`)).status).toBe(200);
  gateway.auth.failInternal(undefined);
});

it('a removed key is rejected, even if it was accepted before, and its open connections are ended', async () => {
  const old = await gateway.auth.token(USER);
  expect(await statusOf(old)).toBe(200);
  const begin = { origin: gateway.origin, query: 'subscription { taskChanges { sequence } }' };
  const openAll = (token: string) => Promise.all(PROTOCOLS.map((protocol) => streamBy(protocol, { ...begin, token })));
  const ending = await openAll(old);
  await gateway.auth.rotate();
  const fresh = await gateway.auth.token(USER);
  await eventually(async () => expect(await statusOf(fresh)).toBe(200));
  const staying = await openAll(fresh);
  expect(ending.map(({ ended }) => ended)).toEqual(ending.map(() => undefined));

  gateway.auth.retire();
  const stranger = await gateway.auth.token(USER, { key: await createSigningKey('stranger') });
  await eventually(async () => {
    await me(stranger); // an unknown key triggers a reload, as the timer would
    expect(await statusOf(old)).toBe(401);
  });
  await eventually(() => expect(ending.filter(({ ended }) => !ended)).toEqual([]));
  expect(ending.map(({ ended }) => ended?.code)).toEqual([4403, undefined, undefined, 4401]);
  expect(await statusOf(fresh)).toBe(200);
  expect(staying.filter(({ ended }) => ended)).toEqual([]);
});

it('a gateway that has not reached auth yet is not ready and accepts no token, whose session may have ended', async () => {
  const token = await gateway.auth.token(USER);
  gateway.auth.failInternal(new Error('auth is unavailable'));
  const at = await startTestGateway({ beside: gateway, waitUntilReady: false });
  expect((await fetch(`${at.origin}/readyz`)).status).toBe(503);
  const refused = await me(token, at);
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1']);
  // 4500 would make graphql-ws clients give up.
  const socket = await openWebSocket(`${at.origin}/graphql`, 'graphql-transport-ws');
  const closed = once(socket, 'close');
  socket.send(JSON.stringify({ type: 'connection_init', payload: { authorization: `Bearer ${token}` } }));
  expect((await closed)[0]).toBe(1013);
  gateway.auth.failInternal(undefined);
  await eventually(async () => (await fetch(`${at.origin}/readyz`)).status === 200, { timeoutMs: 15_000 });
  expect(await statusOf(token, at)).toBe(200);
});

it.each(PROTOCOLS)('a read-only personal token follows changes over %s until it ends', async (protocol) => {
  const { token, id } = gateway.auth.personalToken(USER, 'read');
  const query = 'subscription { taskChanges { sequence } }';
  const stream = await streamBy(protocol, { origin: gateway.origin, token, query });
  await gateway.untilSubscriptions(1);
  gateway.commit(USER);
  await eventually(() => expect(stream.events).toHaveLength(1));
  gateway.auth.end(id);
  await eventually(() => expect(stream.ended).toBeDefined());
  expect((await gateway.graphql('{ me { id } }', { token })).body.data).toBeNull();
});
