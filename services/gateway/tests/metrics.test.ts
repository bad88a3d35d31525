import { eventually } from '@taskmesh/testing';
import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { startTestGateway, useGateway, USER } from './fakes/gateway.ts';
import { openWebSocket, PROTOCOLS, streamBy, streamGraphqlWs } from './fakes/streams.ts';

const QUERY = 'subscription ($after: String) { taskChanges(after: $after) { sequence } }';

describe('the realtime metrics', () => {
  const figure = (series: string) => gateway.figure(`taskmesh_realtime_${series}`);
  const of = (protocol: string, more = '') => `{protocol="${protocol}"${more}}`;
  const start = (variables: Record<string, unknown> = {}) => {
    const { origin, token } = gateway;
    return { origin, token, query: QUERY, variables };
  };
  const streams = async () => {
    const all = await Promise.all(PROTOCOLS.map((protocol) => streamBy(protocol, start())));
    await gateway.untilSubscriptions(all.length);
    return all;
  };

  const gateway = useGateway({ env: { REALTIME_MAX_SUBSCRIPTIONS: '2' } });
  const allClosed = () =>
    eventually(async () => {
      for (const protocol of PROTOCOLS) expect(await figure(`connections${of(protocol)}`)).toBe(0);
    });
  beforeEach(allClosed);
  afterAll(allClosed);

  it('count connections, subscriptions and owners up and down', async () => {
    const all = await streams();
    for (const protocol of PROTOCOLS)
      for (const what of ['connections', 'subscriptions']) expect(await figure(what + of(protocol))).toBe(1);
    expect(await figure('owners')).toBe(1);
    for (const stream of all) stream.close();
    await allClosed();
    await eventually(async () => {
      expect([await figure('owners'), await gateway.subscriptions()]).toEqual([0, 0]);
      for (const protocol of PROTOCOLS)
        expect(await figure(`connections_ended_total${of(protocol, ',reason="client"')}`)).toBe(1);
    });
  });

  it('count a subscription once it receives all changes', async () => {
    const { asked, come } = gateway.tasks.changes.respondLate('heads');
    await streamGraphqlWs(start());
    await asked;
    expect(await gateway.subscriptions()).toBe(0);
    come();
    await gateway.untilSubscriptions(1);
  });

  it('time each delivery since the commit, and how it arrived', async () => {
    const counts = () =>
      Promise.all(PROTOCOLS.map((protocol) => figure(`delivery_latency_seconds_count${of(protocol)}`)));
    const before = await counts();
    const all = await streams();
    for (const _time of [1, 2]) gateway.commit(USER);
    for (const { events } of all) await eventually(() => expect(events).toHaveLength(2));
    expect(await counts()).toEqual(before.map((count) => count + 2));
    const sum = await figure(`delivery_latency_seconds_sum${of('sse')}`);
    expect([sum >= 0, sum < 10]).toEqual([true, true]);
    expect(await figure('arrival_latency_seconds_count{way="event_log"}')).toBeGreaterThanOrEqual(2);
  });

  it('report changes that the event log lost and that had to be fetched', async () => {
    const counts = async () => [
      await figure('gap_fills_total'),
      await figure('arrival_latency_seconds_count{way="gap_fill"}'),
    ];
    const [fills = 0, filled = 0] = await counts();
    const [stream] = await streams();
    gateway.tasks.changes.commit(USER); // never published
    gateway.commit(USER);
    await eventually(() => expect(stream?.events).toHaveLength(2));
    expect(await counts()).toEqual([fills + 1, filled + 2]);
  });

  it('report resumes, replayed changes and unusable cursors; a replay does not count as a late delivery', async () => {
    const series = [
      ...['resumes_total{outcome="resumed"}', 'resumes_total{outcome="expired"}', 'replayed_changes_total'],
      `subscriptions_failed_total${of('graphql-ws', ',reason="cursor_expired"')}`,
      `delivery_latency_seconds_count${of('graphql-ws')}`,
    ];
    const counts = () => Promise.all(series.map(figure));
    const { sequence } = gateway.commit(USER);
    const before = await counts();
    await streamGraphqlWs(start()); // resumes nothing
    await gateway.untilSubscriptions(1);
    const stream = await streamGraphqlWs(start({ after: gateway.tasks.changes.cursor(USER, sequence - 1) }));
    await streamGraphqlWs(start({ after: 'nonsense' }));
    await eventually(() => expect(stream.events).toHaveLength(1));
    const after = before.map((count, index) => (index < 4 ? count + 1 : count));
    await eventually(async () => expect(await counts()).toEqual(after));
  });

  it('report why connections end', async () => {
    // Each side notices the end separately.
    const isCounted = (reason: string) =>
      eventually(async () =>
        expect(await figure(`connections_ended_total${of('graphql-ws', `,reason="${reason}"`)}`)).toBe(1),
      );
    const reasons = { 'no message': 'bad_message', '{"type":"connection_init"}': 'unauthorized' };
    for (const [message, reason] of Object.entries(reasons)) {
      (await openWebSocket(`${gateway.origin}/graphql`, 'graphql-transport-ws')).send(message);
      await isCounted(reason);
    }
    const sid = 'c0000000-0000-4000-8000-00000000000c';
    const leaving = await streamGraphqlWs({ ...start(), token: await gateway.auth.token(USER, { claims: { sid } }) });
    gateway.auth.end(sid);
    await eventually(() => expect(leaving.ended).toEqual({ code: 4403 }));
    await isCounted('session_ended');
  });
});

it('the metrics of the graph count operations by kind, requests by service, errors and refusals by code', async () => {
  const gateway = await startTestGateway({ env: { GRAPHQL_MAX_DEPTH: '2' } });
  const { token } = gateway;
  await gateway.graphql('{ taskStatistics { total } }', { token });
  await gateway.graphql('{ taskStatistics { total } other: taskStatistics { completed } }');
  await gateway.graphql('{ tasks { edges { node { id } } } }', { token });
  await gateway.graphql('{ nothing }', { token });
  for (const [series, count] of [
    ['operation_duration_seconds_count{operation_type="query"}', 2],
    ['subgraph_request_duration_seconds_count{subgraph="tasks"}', 2],
    ['operation_errors_total{code="UNAUTHENTICATED"}', 1],
    ['operations_refused_total{code="GRAPHQL_VALIDATION_FAILED"}', 2],
  ] as const)
    expect([series, await gateway.figure(`graphql_${series}`)]).toEqual([series, count]);
});

it('the metrics of requests have one series per status for all requests that no route serves, with any path and method', async () => {
  const gateway = await startTestGateway();
  for (const path of ['/livez', '/graphql', '/api/tasks', '/nothing'])
    for (const method of ['GET', 'OPTIONS', 'PUT', 'PROPFIND'])
      await fetch(gateway.origin + path, { method, headers: { accept: 'application/json' } });
  const refusedEarly = request(`${gateway.origin}/livez`, {
    method: 'PROPFIND',
    headers: { 'transfer-encoding': 'gzip, chunked' },
  });
  const [{ statusCode }] = (await once(refusedEarly.end(), 'response')) as [IncomingMessage];
  expect(statusCode).toBe(415);
  const text = await gateway.metrics.metrics();
  const labels = [...text.matchAll(/^http_request_duration_seconds_count\{(.*)\}/gm)].map(([, each]) => each);
  expect(labels.toSorted()).toEqual([
    'method="GET",route="/api/tasks",status="401"',
    'method="GET",route="/graphql",status="400"',
    'method="GET",route="/livez",status="200"',
    'method="other",route="unknown",status="204"',
    'method="other",route="unknown",status="404"',
    'method="other",route="unknown",status="405"',
    'method="other",route="unknown",status="415"',
  ]);
});
