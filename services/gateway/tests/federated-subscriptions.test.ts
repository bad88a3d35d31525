import { eventually } from '@taskmesh/testing';
import { startTestGateway, USER } from './fakes/gateway.ts';
import {
  GRAPHQL_PROTOCOLS,
  PROTOCOLS,
  streamBy,
  streamGraphqlWs,
  type Protocol,
  type StreamRequest,
  type TestStream,
} from './fakes/streams.ts';

const gateway = await startTestGateway();
const token = await gateway.auth.token(USER);

describe('a subscription', () => {
  beforeEach(() => {
    gateway.tasks.calls.length = 0;
  });

  /** Opens streams, and waits until they receive all changes. */
  const openAll = async (protocols: readonly Protocol[], start: StreamRequest) => {
    const streams = await Promise.all(protocols.map((protocol) => streamBy(protocol, start)));
    await gateway.untilSubscriptions(streams.length);
    return streams;
  };
  const closeAll = async (streams: TestStream[]) => {
    for (const stream of streams) stream.close();
    await eventually(async () => expect(await gateway.figure('taskmesh_realtime_owners')).toBe(0));
  };

  /** The result of one change, which equal subscribers receive. */
  const resultOf = async (query: string, variables: Record<string, unknown> = {}, protocols = GRAPHQL_PROTOCOLS) => {
    const streams = await openAll(protocols, { origin: gateway.origin, token, query, variables });
    gateway.commit(USER, { title: 'new' });
    for (const { events } of streams) await eventually(() => expect(events).toHaveLength(1));
    await closeAll(streams);
    const [first, ...others] = streams.map(({ events }) => events[0]);
    for (const other of others) expect(other).toEqual(first);
    return first;
  };

  it.each([
    ['aliases, order, nulls and __typename', 'subscription { c: taskChanges { n: kind __typename'],
    ['a directive, too', 'subscription ($with: Boolean!) { c: taskChanges { n: kind @include(if: $with) __typename'],
  ])('is written as selected: %s', async (_what, begin) => {
    const query = `${begin} task { title description owner { id } } previous { id } } }`;
    const task = { title: 'new', description: null, owner: { id: USER } };
    expect(JSON.stringify(await resultOf(query, { with: true }))).toBe(
      JSON.stringify({ data: { c: { n: 'INSERT', __typename: 'TaskChange', task, previous: null } } }),
    );
  });

  it('gets fields of other services', async () => {
    expect(await resultOf('subscription { taskChanges { task { title owner { id name } } } }')).toEqual({
      data: { taskChanges: { task: { title: 'new', owner: { id: USER, name: `Name of ${USER}` } } } },
    });
    expect(gateway.tasks.calls).toEqual([]);
  });

  it("gets fields that only the event's own service has, and fields that others add to them", async () => {
    const query = `subscription ($first: Int, $with: Boolean = true) {
      changes: taskChanges {
        task { title by: owner { name list: tasks(first: $first) { totalCount edges { node { title owner { name } } } } } }
        previous { owner { tasks { totalCount } } }
        again: task { owner { tasks(first: 1) @include(if: $with) { totalCount } } }
      }
    }`;
    const owner = { name: `Name of ${USER}` };
    expect(await resultOf(query, { first: 1 })).toEqual({
      data: {
        changes: {
          task: {
            title: 'new',
            by: {
              ...owner,
              list: { totalCount: 2, edges: [{ node: { title: `Task 1 of ${USER}`, owner } }] },
            },
          },
          previous: null,
          again: { owner: { tasks: { totalCount: 2 } } },
        },
      },
    });
  });

  it.each([
    ['an inline fragment', 'subscription { ... on Subscription { taskChanges { kind task { title } } } }'],
    ['a fragment', 'subscription { ...A } fragment A on Subscription { taskChanges { kind task { title } } }'],
    [
      'fragments that select it twice',
      'subscription { taskChanges { kind } ... { ...A } } fragment A on Subscription { taskChanges { task { title } } }',
    ],
  ])('works in %s, too', async (_what, query) => {
    expect(await resultOf(query)).toEqual({ data: { taskChanges: { kind: 'INSERT', task: { title: 'new' } } } });
  });

  it('reads its arguments from a fragment, too', async () => {
    const query = `subscription ($after: String) { ...A }
        fragment A on Subscription { changes: taskChanges(after: $after) { task { title owner { name } } } }`;
    const { cursor: after } = gateway.commit(USER, { title: 'seen' });
    gateway.commit(USER, { title: 'missed' });
    const stream = await streamGraphqlWs({ origin: gateway.origin, token, query, variables: { after } });
    await eventually(() => expect(stream.events).toHaveLength(1));
    await closeAll([stream]);
    expect(stream.events).toEqual([
      { data: { changes: { task: { title: 'missed', owner: { name: `Name of ${USER}` } } } } },
    ]);
  });

  it.each([
    ['was deleted meanwhile', 'e', 'UNAUTHENTICATED', ['taskChanges', 'task', 'owner']],
    ['is not known to the service of accounts', 'f', 'INTERNAL_SERVER_ERROR', undefined],
  ])('gets null with an error in every protocol when its account %s', async (_why, first, code, path) => {
    const user = USER.replace('a', first);
    const query = 'subscription { taskChanges { task { owner { name } } } }';
    const start = { origin: gateway.origin, token: await gateway.auth.token(user), query };
    const streams = await openAll(GRAPHQL_PROTOCOLS, start);
    gateway.commit(user, { title: 'new' });
    for (const { events } of streams) {
      await eventually(() => expect(events).toHaveLength(1));
      expect(events[0]).toMatchObject({ data: null, errors: [{ extensions: { code }, ...(path && { path }) }] });
    }
    await closeAll(streams);
  });

  it.each(['sequence', 'sequence task { owner { name } }'])(
    "has the trace of its change's request in each frame of every protocol, and other events do not: %s",
    async (fields) => {
      const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
      const query = `subscription { taskChanges { ${fields} } }`;
      const streams = await openAll(PROTOCOLS, { origin: gateway.origin, token, query });
      gateway.logged.length = 0;
      gateway.commit(USER, { traceparent });
      gateway.commit(USER);
      for (const { events } of streams) await eventually(() => expect(events).toHaveLength(2));
      const [channel, ...others] = streams.toReversed();
      for (const { events } of others)
        expect(events.map(({ extensions }) => extensions)).toEqual([{ traceparent }, undefined]);
      expect(channel?.events.map((event) => event['traceparent'])).toEqual([traceparent, undefined]);
      // The row itself contains no trace.
      expect(JSON.stringify(channel?.events[0]?.['data'])).not.toContain('traceparent');
      const delivered = gateway.logged.filter(({ msg }) => msg === 'a change is delivered');
      expect(delivered).toMatchObject([{ level: 'debug', traceparent }]);
      await closeAll(streams);
    },
  );

  it('is rendered once for all equal streams, in every protocol', async () => {
    await resultOf('subscription { taskChanges { task { owner { tasks { totalCount } } } } }', {}, [
      ...GRAPHQL_PROTOCOLS,
      ...GRAPHQL_PROTOCOLS,
    ]);
    expect(gateway.tasks.calls).toHaveLength(1);
  });
});
