import { collectGarbage } from '@taskmesh/testing';
import { createChannel, type ChannelDeps } from '../src/channel.ts';
import { readJoin } from '../src/join.ts';
import { SERVED } from './world.ts';

const nothing = () => undefined;
const deps = {
  verify: async () => ({ id: 'ada', expiresAt: Infinity, watch: () => nothing }),
  subscribe: async () => nothing,
  now: Date.now,
  messages: new Proxy({}, { get: () => nothing }),
  viewOf: nothing,
  metrics: { subscribed: () => nothing, failed: nothing, delivered: nothing },
  channels: { reserve: () => nothing, closeAll: nothing },
  onClosed: nothing,
} as unknown as ChannelDeps; // only the part that a join needs

/** A separate function, so that no local variable retains the message. */
async function join() {
  const entry = { event: '*', schema: 'public', table: 'tasks', more: 'x' };
  const payload = { config: { postgres_changes: [entry] }, access_token: 'token' };
  const keys = { apikey: 'key', publicKey: 'key', isOfUser: () => true };
  const message = { joinRef: '1', ref: '1', topic: 'realtime:x', event: 'phx_join', payload };
  const channel = createChannel(readJoin(message, SERVED, keys), deps);
  await channel.join();
  return { channel, entry: new WeakRef(entry) };
}

it('a joined channel does not retain the entries that its client sent', async () => {
  const { channel, entry } = await join();
  expect(channel.isJoined()).toBe(true);
  await new Promise((resolve) => setImmediate(resolve));
  collectGarbage();
  expect(entry.deref()).toBeUndefined();
  channel.close();
});
