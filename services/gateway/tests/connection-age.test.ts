import { jest } from '@jest/globals';
import { eventually } from '@taskmesh/testing';
import { once } from 'node:events';
import { request as ask, type IncomingMessage } from 'node:http';
import { WebSocket } from 'ws';
import { startTestGateway, type TestGateway } from './fakes/gateway.ts';
import { holdExecution } from './fakes/hold-execution.ts';
import { openWebSocket, streamChannel, streamGraphqlWs, streamHttp, type TestStream } from './fakes/streams.ts';

const USER = 'a0000000-0000-4000-8000-000000000001';
const QUERY = `subscription ($after: String) { taskChanges(after: $after) { ...Place task { title } } }
  fragment Place on TaskChange { ... { cursor } sequence }`;
/** The cursors of other things are none of the feed. */
const QUERY_WITHOUT_CURSOR = `subscription ($after: String, $with: Boolean = false) {
  taskChanges(after: $after) { cursor @include(if: $with) task { owner { tasks(first: 1) { edges { cursor } } } } }
}`;
const BARE_QUERY = 'subscription { taskChanges { sequence task { title } } }';
const PROTOCOLS = ['graphql-ws', 'sse', 'multipart', 'channel'] as const;
type Protocol = (typeof PROTOCOLS)[number];

let gateway: TestGateway;
let token: string;
const open: { close(): void }[] = [];

beforeAll(async () => {
  gateway = await startTestGateway({ env: { REALTIME_MAX_CONNECTION_AGE_S: '1' }, random: () => 0.5 });
  token = await gateway.auth.token(USER);
});
afterEach(() => {
  for (const each of open.splice(0)) each.close();
  jest.restoreAllMocks();
});
afterAll(() => gateway.stop());

/** How a channel is joined whose client tracks cursors. */
const RESUMING = { resume: { since: null } };

const stream = async (
  protocol: Protocol,
  after?: string,
  params: Record<string, unknown> = RESUMING,
  query = QUERY,
): Promise<TestStream> => {
  const start = { origin: gateway.origin, token, query, variables: { after } };
  const opened =
    protocol === 'graphql-ws'
      ? await streamGraphqlWs(start)
      : protocol === 'channel'
        ? await streamChannel({ ...start, params })
        : await streamHttp(protocol, start);
  open.push(opened);
  return opened;
};
const tooOld = async (protocol: Protocol) => {
  const series = `taskmesh_realtime_connections_ended_total{protocol="${protocol}",reason="max_age"} `;
  const line = (await gateway.metrics.metrics()).split('\n').find((text) => text.startsWith(series));
  return Number(line?.slice(series.length) ?? 0);
};
const cursorNow = async () => (await gateway.tasks.changes.heads([USER], true)).cursors?.[USER];
const running = () => gateway.metrics.getSingleMetricAsString('taskmesh_realtime_subscriptions');

describe.each(PROTOCOLS)('a connection over %s that is old enough', (protocol) => {
  const isSocket = protocol === 'graphql-ws' || protocol === 'channel';

  it('breaks off as at a gateway that stops, without an error, and is counted', async () => {
    const before = await tooOld(protocol);
    const opened = await stream(protocol);
    await eventually(async () => expect(await running()).toContain(`{protocol="${protocol}"} 1`));
    gateway.commit(USER);
    await eventually(() => expect(opened.ended).toEqual(isSocket ? { code: 1012 } : { isTorn: true }));
    expect(opened.events).toHaveLength(1);
    expect(opened.errors).toEqual(protocol === 'channel' ? [{ message: 'Service restart' }] : []);
    await eventually(async () => expect(await tooOld(protocol)).toBe(before + 1));
  });
});

it.each([
  ['a channel without `resume`', (): Promise<TestStream> => stream('channel', undefined, {})],
  ['an operation without `after`', () => stream('graphql-ws', undefined, {}, BARE_QUERY)],
  ['an operation that has no cursor yet', () => stream('graphql-ws')],
  [
    'an operation that never gets a cursor',
    async () => stream('graphql-ws', await cursorNow(), {}, QUERY_WITHOUT_CURSOR),
  ],
  [
    'a multipart stream that never gets one',
    async () => stream('multipart', await cursorNow(), {}, QUERY_WITHOUT_CURSOR),
  ],
  ['a multipart stream without `after`', () => stream('multipart', undefined, {}, BARE_QUERY)],
])('%s keeps its connection, as its client would lose changes', async (_what, begin) => {
  const [bare, resuming] = [await begin(), await stream('channel')];
  await eventually(() => expect(resuming.ended).toEqual({ code: 1012 }));
  const later = await stream('channel');
  await eventually(() => expect(later.ended).toEqual({ code: 1012 }));
  gateway.commit(USER);
  await eventually(() => expect(bare.events).toHaveLength(1));
  expect([bare.ended, bare.errors]).toEqual([undefined, []]);
});

it('a socket that is old enough still delivers pending results, so that no request is repeated', async () => {
  const { isHeld, release, undo } = holdExecution(gateway.tasks);
  const mutation = 'mutation { createTask(input: { title: "once" }) { title } }';
  const asking = await streamGraphqlWs({ origin: gateway.origin, token, query: mutation });
  await eventually(isHeld);
  const later = await stream('graphql-ws', gateway.tasks.changes.cursor(USER, 0));
  await eventually(() => expect(later.ended).toEqual({ code: 1012 }));
  release();
  await eventually(() => expect(asking.ended).toEqual({ code: 1012 }));
  expect(asking.events).toEqual([{ data: { createTask: { title: 'once' } } }]);
  undo();
});

it('a socket that is old enough answers pings while it waits for a result, and nothing else', async () => {
  const { isHeld, release, undo } = holdExecution(gateway.tasks);
  const socket = await openWebSocket(`${gateway.origin}/graphql`, 'graphql-transport-ws');
  open.push(socket);
  const received: string[] = [];
  socket.on('message', (bytes) => {
    const {
      type,
      id = '',
      payload,
    } = JSON.parse(String(bytes)) as { type: string; id?: string; payload?: { n?: number } };
    received.push([type, id, payload?.n ?? ''].join(' ').trim());
  });
  const send = (message: object) => socket.send(JSON.stringify(message));
  const closed = once(socket, 'close');
  const payload = { query: '{ taskStatistics { total } }' };
  send({ type: 'connection_init', payload: { authorization: `Bearer ${token}` } });
  await eventually(() => expect(received).toEqual(['connection_ack']));
  send({ id: 'held', type: 'subscribe', payload });
  await eventually(isHeld);
  const later = await stream('graphql-ws', gateway.tasks.changes.cursor(USER, 0));
  await eventually(() => expect(later.ended).toEqual({ code: 1012 }));
  send({ id: 'late', type: 'subscribe', payload: { query: '{ __typename }' } });
  send({ type: 'ping', payload: { n: 7 } });
  await eventually(() => expect(received).toEqual(['connection_ack', 'pong  7']));
  release();
  expect((await closed)[0]).toBe(1012);
  expect(received).toEqual(['connection_ack', 'pong  7', 'next held', 'complete held']);
  undo();
});

describe('a replay that takes longer than a connection may become old', () => {
  const COUNT = 800;
  const owner = 'b0000000-0000-4000-8000-000000000001';
  let first: string;

  beforeAll(async () => {
    token = await gateway.auth.token(owner);
    first = gateway.tasks.changes.cursor(owner, 0);
    for (let count = 0; count < COUNT; count++) gateway.commit(owner, { title: 'x'.repeat(10_000) });
  });

  /** Reads nothing until the gateway has ended the connection; then what is left of it. */
  const readOverGraphqlWs = async (after: string): Promise<number[]> => {
    const closing = jest.spyOn(WebSocket.prototype, 'close'); // the gateway's end is in this process, too
    const socket = await openWebSocket(`${gateway.origin}/graphql`, 'graphql-transport-ws');
    open.push(socket);
    const seen: number[] = [];
    const send = (message: unknown) => socket.send(JSON.stringify(message));
    const ended = once(socket, 'close');
    const started = new Promise<void>((resolve) =>
      socket.on('message', (bytes) => {
        const { type, payload } = JSON.parse(String(bytes)) as { type: string; payload?: TestStream['events'][0] };
        if (type === 'connection_ack')
          send({ id: '1', type: 'subscribe', payload: { query: QUERY, variables: { after } } });
        if (type !== 'next') return;
        seen.push(payload?.data?.taskChanges.sequence ?? 0);
        resolve();
      }),
    );
    send({ type: 'connection_init', payload: { authorization: `Bearer ${token}` } });
    await started;
    socket.pause();
    await eventually(() => expect(closing).toHaveBeenCalledWith(1012, expect.anything()));
    socket.resume();
    expect((await ended)[0]).toBe(1012);
    return seen;
  };

  const readOverSse = async (after: string): Promise<number[]> => {
    const ends = await tooOld('sse');
    const asked = ask(`${gateway.origin}/graphql?query=${encodeURIComponent(QUERY)}`, {
      headers: { accept: 'text/event-stream', authorization: `Bearer ${token}`, 'last-event-id': after },
    });
    asked.end();
    const [response] = (await once(asked, 'response')) as [IncomingMessage];
    await eventually(async () => expect(await tooOld('sse')).toBe(ends + 1));
    let text = '';
    await response
      .setEncoding('utf8')
      .forEach((chunk: string) => void (text += chunk))
      .catch(() => undefined); // broken off
    const whole = text.slice(0, text.lastIndexOf('\n\n') + 1);
    return [...whole.matchAll(/"sequence":(\d+)/g)].map(([, sequence]) => Number(sequence));
  };

  it.each([
    ['graphql-ws', readOverGraphqlWs],
    ['sse', readOverSse],
  ] as const)('comes to its end over %s, each connection going on where the last one ended', async (_, read) => {
    const seen: number[] = [];
    let connections = 0;
    while (seen.length < COUNT) {
      seen.push(...(await read(seen.length === 0 ? first : gateway.tasks.changes.cursor(owner, seen.at(-1) ?? 0))));
      connections++;
    }
    expect(connections).toBeGreaterThan(1);
    expect(seen).toEqual(Array.from({ length: COUNT }, (_each, index) => index + 1));
  });
});
