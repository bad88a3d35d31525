import { QueryPlanner } from '@apollo/query-planner';
import { eventually } from '@taskmesh/testing';
import { startTestGateway, USER } from './fakes/gateway.ts';
import {
  connectGraphqlWs,
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

const start = { origin: gateway.origin, token };

describe('a subscription', () => {
  beforeEach(() => void (gateway.tasks.calls.length = 0));

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
  const resultOf = async (query: string, variables: Record<string, unknown>) => {
    const streams = await openAll(GRAPHQL_PROTOCOLS, { ...start, query, variables });
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
    [
      'in fragments, too',
      'subscription { ... { c: taskChanges { n: kind __typename } } ...A } fragment A on Subscription { c: taskChanges {',
    ],
  ])('is written as selected: %s', async (_what, begin) => {
    const query = `${begin} task { title description owner { id } } previous { id } } }`;
    const task = { title: 'new', description: null, owner: { id: USER } };
    expect(JSON.stringify(await resultOf(query, { with: true }))).toBe(
      JSON.stringify({ data: { c: { n: 'INSERT', __typename: 'TaskChange', task, previous: null } } }),
    );
  });

  it('is not planned for each event, however many combinations of conditions are in use', async () => {
    const flags = ['a', 'b', 'c', 'd', 'e'];
    const query = `query Other { __typename } subscription Own(${flags.map((flag) => `$${flag}: Boolean!`)}) { taskChanges {
      sequence task { owner { ${flags.map((flag) => `${flag}: name @include(if: $${flag})`)} } } } }`;
    const sockets = await Promise.all([0, 1].map(() => connectGraphqlWs(start.origin, token)));
    for (let index = 0; index < 32; index++) {
      const variables = Object.fromEntries(flags.map((flag, bit) => [flag, (index >> bit) % 2 === 1]));
      sockets[index % 2]?.send({
        id: `${index}`,
        type: 'subscribe',
        payload: { query, operationName: 'Own', variables },
      });
    }
    await gateway.untilSubscriptions(32);
    const planned = jest.spyOn(QueryPlanner.prototype, 'buildQueryPlan');
    gateway.commit(USER);
    for (let index = 0; index < 32; index++)
      await eventually(() => {
        const names = flags.filter((_, bit) => (index >> bit) % 2 === 1).map((flag) => [flag, `Name of ${USER}`]);
        const task = { owner: Object.fromEntries(names) };
        const events = sockets[index % 2]?.of(`${index}`);
        expect(events).toMatchObject([{ type: 'next', payload: { data: { taskChanges: { task } } } }]);
      });
    expect(planned).not.toHaveBeenCalled();
    planned.mockRestore();
    for (const { socket } of sockets) socket.terminate();
    await closeAll([]);
  });

  it('reads its arguments from a fragment, too', async () => {
    const query = `subscription ($after: String) { ...A }
        fragment A on Subscription { changes: taskChanges(after: $after) { task { title owner { name } } } }`;
    const { cursor: after } = gateway.commit(USER, { title: 'seen' });
    gateway.commit(USER, { title: 'missed' });
    const stream = await streamGraphqlWs({ ...start, query, variables: { after } });
    const data = { changes: { task: { title: 'missed', owner: { name: `Name of ${USER}` } } } };
    await eventually(() => expect(stream.events).toEqual([{ data }]));
    await closeAll([stream]);
  });

  it.each([
    ['was deleted meanwhile', 'e', 'UNAUTHENTICATED', ['taskChanges', 'task', 'owner']],
    ['is not known to the service of accounts', 'f', 'INTERNAL_SERVER_ERROR', undefined],
  ])('gets null with an error in every protocol when its account %s', async (_why, first, code, path) => {
    const user = USER.replace('a', first);
    const query = 'subscription { taskChanges { task { owner { name } } } }';
    const streams = await openAll(GRAPHQL_PROTOCOLS, { ...start, token: await gateway.auth.token(user), query });
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
      const streams = await openAll(PROTOCOLS, { ...start, query: `subscription { taskChanges { ${fields} } }` });
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

  it('is rendered once for all equal streams, in every protocol, at any position and with any filter', async () => {
    const query = `subscription ($after: String, $filter: TaskFilter) {
      taskChanges(after: $after, filter: $filter) { task { owner { tasks { totalCount } } } }
    }`;
    const after = gateway.commit(USER).cursor;
    const open = (variables: object) =>
      Promise.all(
        GRAPHQL_PROTOCOLS.map((protocol) => streamBy(protocol, { ...start, query, variables: { ...variables } })),
      );
    const streams = [
      ...(await open({})),
      ...(await open({ after })),
      ...(await open({ filter: { completed: false } })),
    ];
    await gateway.untilSubscriptions(streams.length);
    gateway.commit(USER);
    const data = { taskChanges: { task: { owner: { tasks: { totalCount: 2 } } } } };
    for (const { events } of streams) await eventually(() => expect(events).toEqual([{ data }]));
    expect(gateway.tasks.calls).toHaveLength(1);
    await closeAll(streams);
  });
});
