import { eventually } from '@taskmesh/testing';
import { startTestGateway, USER } from './fakes/gateway.ts';
import { holdExecution } from './fakes/tasks.ts';
import { connectGraphqlWs, PROTOCOLS, streamBy, type Protocol } from './fakes/streams.ts';

const QUERY = `subscription ($after: String) { taskChanges(after: $after) { ...Place task { title } } }
  fragment Place on TaskChange { ... { cursor } sequence }`;
/** Cursors of other fields are not cursors of the feed. */
const QUERY_WITHOUT_CURSOR = `subscription ($after: String, $with: Boolean = false) {
  taskChanges(after: $after) { cursor @include(if: $with) task { owner { tasks(first: 1) { edges { cursor } } } } }
}`;
const BARE_QUERY = 'subscription { taskChanges { sequence task { title } } }';

const gateway = await startTestGateway({ env: { REALTIME_MAX_CONNECTION_AGE_S: '1' }, random: () => 0.5 });
const token = await gateway.auth.token(USER);

/** The join of a client that tracks cursors. */
const RESUMING = { resume: { since: null } };

const stream = (protocol: Protocol, after?: string, params: Record<string, unknown> = RESUMING, query = QUERY) =>
  streamBy(protocol, { origin: gateway.origin, token, query, variables: { after }, params });
const tooOld = (protocol: Protocol) =>
  gateway.figure(`taskmesh_realtime_connections_ended_total{protocol="${protocol}",reason="max_age"}`);
const cursorNow = async () => (await gateway.tasks.changes.heads([USER], true)).cursors?.[USER];

it('connections that are old enough are closed as by a gateway that stops, without an error, and are counted', async () => {
  const before = await Promise.all(PROTOCOLS.map(tooOld));
  const others = await Promise.all(PROTOCOLS.slice(0, 3).map((protocol) => stream(protocol)));
  const opened = [...others, await stream('channel')]; // last, because it may end before its first event
  await gateway.untilSubscriptions(4);
  gateway.commit(USER);
  const [closed, torn] = [{ code: 1012 }, { isTorn: true }];
  await eventually(() => expect(opened.map(({ ended }) => ended)).toEqual([closed, torn, torn, closed]));
  for (const { events } of opened) expect(events).toHaveLength(1);
  expect(opened.map(({ errors }) => errors)).toEqual([[], [], [], [{ message: 'Service restart' }]]);
  const counted = before.map((count) => count + 1);
  await eventually(async () => expect(await Promise.all(PROTOCOLS.map(tooOld))).toEqual(counted));
});

it('connections stay open if their clients would lose changes', async () => {
  const since = await cursorNow();
  const staying = await Promise.all([
    stream('channel', undefined, {}), // without `resume`
    stream('graphql-ws', undefined, {}, BARE_QUERY), // without `after`
    stream('multipart', undefined, {}, BARE_QUERY),
    stream('sse', undefined, {}, BARE_QUERY), // by POST, without Last-Event-ID
    stream('graphql-ws'), // has no cursor yet
    stream('graphql-ws', since, {}, QUERY_WITHOUT_CURSOR), // never gets one
    stream('multipart', since, {}, QUERY_WITHOUT_CURSOR),
  ]);
  for (const _time of [1, 2]) {
    const resuming = await stream('channel');
    await eventually(() => expect(resuming.ended).toEqual({ code: 1012 }));
  }
  expect(staying.map(({ ended, errors }) => [ended, errors])).toEqual(staying.map(() => [undefined, []]));
  gateway.commit(USER);
  for (const { events } of staying) await eventually(() => expect(events).toHaveLength(1));
});

it('a socket that is old enough answers only pings while it waits for a result', async () => {
  const { isHeld, release } = holdExecution(gateway.tasks);
  const client = await connectGraphqlWs(gateway.origin, token);
  client.subscribe('held', '{ taskStatistics { total } }');
  await eventually(isHeld);
  const later = await stream('graphql-ws', gateway.tasks.changes.cursor(USER, 0));
  await eventually(() => expect(later.ended).toEqual({ code: 1012 }));
  client.subscribe('late', '{ __typename }');
  client.send({ type: 'ping', payload: { n: 7 } });
  await eventually(() => expect(client.messages.slice(1)).toEqual([{ type: 'pong', payload: { n: 7 } }]));
  release();
  await eventually(() => expect(client.closed).toBe(1012));
  expect(client.messages.slice(2).map(({ id, type }) => `${id} ${type}`)).toEqual(['held next', 'held complete']);
});
