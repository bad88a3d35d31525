import { eventually, fastestOf } from '@taskmesh/testing';
import { createRest, register } from '../http.ts';
import { openSocket, type RawSocket } from './raw-socket.ts';

type ChannelFrame = [
  joinRef: string | null,
  ref: string | null,
  topic: string,
  event: string,
  payload: { status?: string; message?: string; response?: { reason?: string }; data?: { record?: { title: string } } },
];
interface WsFrame {
  type: string;
  id?: string;
  payload?: { extensions?: { code: string } }[] & { data?: { taskChanges?: { sequence: number } } };
}

const SUBSCRIPTION = 'subscription { taskChanges { sequence } }';

/** How streams begin, end and are refused, frame by frame. */
export function describeFeedRules(platform: () => { urls: string[] }) {
  const url = () => platform().urls[0] ?? '';
  const rest = createRest(url);
  const open: RawSocket[] = [];
  afterEach(() => {
    for (const socket of open.splice(0)) socket.close();
  });

  const account = async () => (await register(url())).token;

  const graphqlSocket = async (protocol = 'graphql-transport-ws', headers: Record<string, string> = {}) => {
    const socket = await openSocket(`${url()}/graphql`, { protocol, headers });
    open.push(socket);
    return socket;
  };
  const acknowledged = async (token: string) => {
    const socket = await graphqlSocket();
    socket.send({ type: 'connection_init', payload: { authorization: `Bearer ${token}` } });
    await socket.frame(({ type }: WsFrame) => type === 'connection_ack');
    return socket;
  };
  const channelSocket = async (query = 'apikey=public-key&vsn=2.0.0') => {
    const socket = await openSocket(`${url()}/realtime/v1/websocket?${query}`);
    open.push(socket);
    return socket;
  };
  const bindings = [{ event: '*', schema: 'public', table: 'tasks' }];
  const join = (socket: RawSocket, ref: string, payload: Record<string, unknown>, topic = 'realtime:tasks') =>
    socket.send([ref, ref, topic, 'phx_join', { config: { postgres_changes: bindings }, ...payload }]);
  const reply = (socket: RawSocket, to: string): Promise<ChannelFrame> =>
    socket.frame(([, ref, , event]: ChannelFrame) => event === 'phx_reply' && ref === to);
  const joined = async (token: string) => {
    const socket = await channelSocket();
    join(socket, '1', { access_token: token });
    expect((await reply(socket, '1'))[4].status).toBe('ok');
    return socket;
  };

  it('carries the trace of the request that made a change to its frames', async () => {
    const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
    // A span of ours if the trace is recorded, otherwise that of the request.
    const ofThisTrace = expect.stringMatching(/^00-4bf92f3577b34da6a3ce929d0e0e4736-[0-9a-f]{16}-01$/);
    const token = await account();
    const socket = await acknowledged(token);
    socket.send({ id: '1', type: 'subscribe', payload: { query: SUBSCRIPTION } });
    const channel = await joined(token);
    await eventually(async () => {
      await rest('POST', '/tasks', { token, body: { title: 'traced' }, headers: { traceparent } });
      expect(socket.frames).toContainEqual(
        expect.objectContaining({
          type: 'next',
          payload: expect.objectContaining({ extensions: { traceparent: ofThisTrace } }),
        }),
      );
    });
    const [, , , , payload]: ChannelFrame = await channel.frame(
      ([, , , event]: ChannelFrame) => event === 'postgres_changes',
    );
    expect(payload).toMatchObject({ data: { record: { title: 'traced' } }, traceparent: ofThisTrace });
    expect(payload.data?.record).not.toHaveProperty('traceparent');
  });

  describe('graphql-ws', () => {
    it('closes with 4403 within two seconds after logout', async () => {
      const round = async () => {
        const token = await account();
        const socket = await acknowledged(token);
        socket.send({ id: '1', type: 'subscribe', payload: { query: SUBSCRIPTION } });
        await rest('POST', '/auth/logout', { token });
        const loggedOut = performance.now();
        await eventually(() => expect(socket.closed).toMatchObject({ code: 4403 }));
        return performance.now() - loggedOut;
      };
      expect(await fastestOf(round)).toBeLessThan(2_000);
    });
  });

  describe('the channel', () => {
    it('refuses a handshake without a key', async () => {
      expect((await channelSocket('vsn=2.0.0')).refusedWith).toBe(401);
    });

    it('reports a missing or invalid token at once, and joins when a valid one arrives', async () => {
      const token = await account();
      const socket = await channelSocket();
      join(socket, '1', {});
      expect((await reply(socket, '1'))[4]).toMatchObject({
        status: 'error',
        response: { reason: expect.stringContaining('access_token') },
      });
      join(socket, '2', { access_token: 'a.b.c' });
      expect((await reply(socket, '2'))[4].status).toBe('error');
      join(socket, '3', { access_token: token });
      expect((await reply(socket, '3'))[4]).toMatchObject({
        status: 'ok',
        response: { postgres_changes: [{ ...bindings[0], id: expect.any(Number) }] },
      });
      await socket.frame(
        ([, , , event, { message }]: ChannelFrame) => event === 'system' && message === 'Subscribed to PostgreSQL',
      );
    });

    it('accepts a token instead of the key', async () => {
      const socket = await channelSocket(`apikey=${await account()}&vsn=1.0.0`);
      socket.send({
        topic: 'realtime:any',
        event: 'phx_join',
        payload: { config: { postgres_changes: bindings } },
        ref: '1',
        join_ref: '1',
      });
      await socket.frame(
        ({ event, payload }: { event: string; payload: { status: string } }) =>
          event === 'phx_reply' && payload.status === 'ok',
      );
    });

    it('responds to heartbeats, leaves, presence and messages to topics that were not joined', async () => {
      const socket = await joined(await account());
      socket.send([null, '2', 'phoenix', 'heartbeat', {}]);
      expect((await reply(socket, '2'))[4].status).toBe('ok');
      socket.send(['1', '3', 'realtime:tasks', 'presence', { type: 'presence', event: 'track', payload: {} }]);
      expect((await reply(socket, '3'))[4].status).toBe('ok');
      socket.send(['9', '4', 'realtime:elsewhere', 'broadcast', {}]);
      expect((await reply(socket, '4'))[4]).toMatchObject({ status: 'error', response: { reason: 'unmatched topic' } });
      socket.send(['1', '5', 'realtime:tasks', 'phx_leave', {}]);
      expect((await reply(socket, '5'))[4].status).toBe('ok');
      await socket.frame(([, , , event]: ChannelFrame) => event === 'phx_close');
    });

    it('switches to another user’s changes as soon as that user’s token is pushed', async () => {
      const [ada, bob] = [await register(url()), await register(url())];
      const socket = await joined(ada.token);
      const titles = () => socket.frames.flatMap((frame) => (frame as ChannelFrame)[4].data?.record?.title ?? []);
      await ada.create('of ada');
      await eventually(() => expect(titles()).toEqual(['of ada']));
      socket.send(['1', '2', 'realtime:tasks', 'access_token', { access_token: bob.token }]);
      await eventually(async () => {
        await bob.create('of bob');
        return titles().includes('of bob');
      });
      await ada.create('not any more');
      await bob.create('last of bob');
      await eventually(() => expect(titles().at(-1)).toBe('last of bob'));
      expect(titles()).not.toContain('not any more');
    });

    it('gives the reason, and closes with 4401, after logout', async () => {
      const token = await account();
      const socket = await joined(token);
      await rest('POST', '/auth/logout', { token });
      await eventually(() => expect(socket.closed).toMatchObject({ code: 4401 }));
      await socket.frame(
        ([, , , event, { status, message }]: ChannelFrame) =>
          event === 'system' && status === 'error' && message === 'The session has ended',
      );
      const again = await channelSocket();
      join(again, '1', { access_token: token });
      expect((await reply(again, '1'))[4].status).toBe('error');
    });

    it('gives the reason, and closes with 1013, when flooded', async () => {
      const socket = await joined(await account());
      for (let count = 0; count < 250; count++) socket.send([null, String(count), 'phoenix', 'heartbeat', {}]);
      expect(await socket.closing()).toMatchObject({ code: 1013 });
      await socket.frame(([, , , event, { status }]: ChannelFrame) => event === 'system' && status === 'error');
    });
  });
}
