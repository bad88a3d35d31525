import { eventually } from '@taskmesh/testing';
import { get } from 'node:http';
import { useGateway, USER, withLargeTask } from './fakes/gateway.ts';
import { connectGraphqlWs } from './fakes/streams.ts';

const MIB = 1024 * 1024;

describe('a result that is larger than the send limit', () => {
  const gateway = useGateway({ wrap: withLargeTask(12) });

  const connect = async () => connectGraphqlWs(gateway.origin, await gateway.auth.token(USER));
  const queued = () => gateway.figure('taskmesh_realtime_queue_bytes');
  const large = '{ task(id: "1") { title } }';

  it('is sent completely over graphql-ws, with the messages after it', async () => {
    const client = await connect();
    client.subscribe('stream', 'subscription { taskChanges { sequence } }');
    await eventually(async () => expect(await gateway.metrics.metrics()).toContain('taskmesh_realtime_owners 1'));
    client.socket.pause();
    client.subscribe('1', large);
    await eventually(async () => expect(await queued()).toBeGreaterThan(2 * MIB));
    gateway.commit(USER, { title: 'behind it' });
    client.socket.resume();
    await eventually(() => expect(client.messages).toHaveLength(4));
    expect(client.messages.slice(1).map(({ id, type }) => `${id} ${type}`)).toEqual([
      '1 next',
      '1 complete',
      'stream next',
    ]);
    expect(await queued()).toBe(0);
    expect(client.closed).toBeUndefined();
  });

  it.each(['text/event-stream', 'multipart/mixed;subscriptionSpec=1.0'])(
    'counts until it is read, like any response: %s',
    async (accept) => {
      const cuts = () => gateway.logged.filter(({ msg }) => String(msg).includes('slow readers'));
      const before = cuts().length;
      const headers = { accept, authorization: `Bearer ${await gateway.auth.token(USER)}` };
      const clients = Array.from({ length: 16 }, () =>
        get(`${gateway.origin}/graphql?query=${encodeURIComponent(large)}`, { headers, agent: false }),
      );
      for (const client of clients) client.on('error', () => undefined).on('response', (response) => response.pause());
      await eventually(() => expect(cuts().length).toBeGreaterThan(before));
      for (const client of clients) client.destroy();
    },
  );

  it('is the last one over graphql-ws for a client that does not read', async () => {
    const client = await connect();
    client.socket.pause();
    for (let id = 0; id < 8; id++) client.subscribe(String(id), large);
    // The second one is accepted while the first is waiting; after both there is no room.
    await eventually(async () => expect(await queued()).toBeGreaterThan(20 * MIB));
    client.socket.resume();
    await eventually(() => expect(client.closed).toBe(1013));
    expect(client.messages.filter(({ type }) => type === 'next')).toHaveLength(2);
  });
});
