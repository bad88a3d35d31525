import { eventually } from '@taskmesh/testing';
import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { useGateway, USER } from './fakes/gateway.ts';
import { openWebSocket, PROTOCOLS, streamBy, streamGraphqlWs } from './fakes/streams.ts';

const QUERY = 'subscription ($after: String) { taskChanges(after: $after) { sequence } }';

describe('the realtime metrics', () => {
  let token: string;

  const figure = (series: string) => gateway.figure(series);
  const start = (variables: Record<string, unknown> = {}) => ({
    origin: gateway.origin,
    token,
    query: QUERY,
    variables,
  });
  const streams = async () => {
    const all = await Promise.all(PROTOCOLS.map((protocol) => streamBy(protocol, start())));
    await gateway.untilSubscriptions(all.length);
    return all;
  };

  const gateway = useGateway({ env: { REALTIME_MAX_SUBSCRIPTIONS: '2' } });
  beforeAll(async () => {
    token = await gateway.auth.token(USER);
  });
  const allClosed = () =>
    eventually(async () => {
      for (const protocol of PROTOCOLS)
        expect(await figure(`taskmesh_realtime_connections{protocol="${protocol}"}`)).toBe(0);
    });
  beforeEach(allClosed);
  afterAll(allClosed);

  it('count connections, subscriptions and owners up and down', async () => {
    const all = await streams();
    for (const protocol of PROTOCOLS)
      for (const what of ['connections', 'subscriptions'])
        expect(await figure(`taskmesh_realtime_${what}{protocol="${protocol}"}`)).toBe(1);
    expect(await figure('taskmesh_realtime_owners')).toBe(1);
    for (const stream of all) stream.close();
    await eventually(async () => {
      expect(await figure('taskmesh_realtime_owners')).toBe(0);
      for (const protocol of PROTOCOLS) {
        expect(await figure(`taskmesh_realtime_connections{protocol="${protocol}"}`)).toBe(0);
        expect(await figure(`taskmesh_realtime_subscriptions{protocol="${protocol}"}`)).toBe(0);
        const ended = `taskmesh_realtime_connections_ended_total{protocol="${protocol}",reason="client"}`;
        expect(await figure(ended)).toBe(1);
      }
    });
  });

  it('count a subscription once it receives all changes', async () => {
    const { changes } = gateway.tasks;
    const { heads } = changes;
    const [asked, mayAnswer] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    changes.heads = async (...question) => {
      asked.resolve();
      await mayAnswer.promise;
      return heads(...question);
    };
    await streamGraphqlWs(start());
    await asked.promise;
    expect(await figure('taskmesh_realtime_subscriptions{protocol="graphql-ws"}')).toBe(0);
    mayAnswer.resolve();
    changes.heads = heads;
    await gateway.untilSubscriptions(1);
  });

  it('time each delivery since the commit, and how it arrived', async () => {
    const series = (protocol: string) => `taskmesh_realtime_delivery_latency_seconds_count{protocol="${protocol}"}`;
    const before = await Promise.all(PROTOCOLS.map((protocol) => figure(series(protocol))));
    const all = await streams();
    gateway.commit(USER);
    gateway.commit(USER);
    for (const { events } of all) await eventually(() => expect(events).toHaveLength(2));
    const after = await Promise.all(PROTOCOLS.map((protocol) => figure(series(protocol))));
    expect(after).toEqual(before.map((count) => count + 2));
    expect(await figure('taskmesh_realtime_delivery_latency_seconds_bucket{le="+Inf",protocol="sse"}')).toBe(after[1]);
    const sum = await figure('taskmesh_realtime_delivery_latency_seconds_sum{protocol="sse"}');
    expect(sum).toBeGreaterThanOrEqual(0);
    expect(sum).toBeLessThan(10);
    expect(await figure('taskmesh_realtime_arrival_latency_seconds_count{way="event_log"}')).toBeGreaterThanOrEqual(2);
  });

  it('report changes that the event log lost and that had to be fetched', async () => {
    const fills = await figure('taskmesh_realtime_gap_fills_total');
    const filled = await figure('taskmesh_realtime_arrival_latency_seconds_count{way="gap_fill"}');
    const [stream] = await streams();
    gateway.tasks.changes.commit(USER); // never published
    gateway.commit(USER);
    await eventually(() => expect(stream?.events).toHaveLength(2));
    expect(await figure('taskmesh_realtime_gap_fills_total')).toBe(fills + 1);
    expect(await figure('taskmesh_realtime_arrival_latency_seconds_count{way="gap_fill"}')).toBe(filled + 2);
  });

  it('report resumes, replayed changes and unusable cursors; a replay does not count as a late delivery', async () => {
    const delivered = 'taskmesh_realtime_delivery_latency_seconds_count{protocol="graphql-ws"}';
    const { sequence } = gateway.commit(USER);
    const [resumed, expired, replayed, times] = await Promise.all([
      figure('taskmesh_realtime_resumes_total{outcome="resumed"}'),
      figure('taskmesh_realtime_resumes_total{outcome="expired"}'),
      figure('taskmesh_realtime_replayed_changes_total'),
      figure(delivered),
    ]);
    await streamGraphqlWs(start()); // resumes nothing
    await gateway.untilSubscriptions(1);
    const stream = await streamGraphqlWs(start({ after: gateway.tasks.changes.cursor(USER, sequence - 1) }));
    await streamGraphqlWs(start({ after: 'nonsense' }));
    await eventually(() => expect(stream.events).toHaveLength(1));
    await eventually(async () =>
      expect(await figure('taskmesh_realtime_resumes_total{outcome="expired"}')).toBe(expired + 1),
    );
    expect(await figure('taskmesh_realtime_resumes_total{outcome="resumed"}')).toBe(resumed + 1);
    expect(await figure('taskmesh_realtime_replayed_changes_total')).toBe(replayed + 1);
    expect(await figure(delivered)).toBe(times);
    const failed = 'taskmesh_realtime_subscriptions_failed_total{protocol="graphql-ws",reason="cursor_expired"}';
    expect(await figure(failed)).toBe(1);
  });

  it('report why connections end', async () => {
    const ended = (reason: string) =>
      `taskmesh_realtime_connections_ended_total{protocol="graphql-ws",reason="${reason}"}`;
    const bad = await openWebSocket(`${gateway.origin}/graphql`, 'graphql-transport-ws');
    bad.send('no message');
    await eventually(async () => expect(await figure(ended('bad_message'))).toBe(1));
    const stranger = await openWebSocket(`${gateway.origin}/graphql`, 'graphql-transport-ws');
    stranger.send(JSON.stringify({ type: 'connection_init' }));
    await eventually(async () => expect(await figure(ended('unauthorized'))).toBe(1));

    const sid = 'c0000000-0000-4000-8000-00000000000c';
    const leaving = await streamGraphqlWs({ ...start(), token: await gateway.auth.token(USER, { claims: { sid } }) });
    gateway.auth.end(sid);
    await eventually(() => expect(leaving.ended).toEqual({ code: 4403 }));
    await eventually(async () => expect(await figure(ended('session_ended'))).toBe(1)); // each side notices the end separately
  });
});

describe('the metrics of the graph', () => {
  const gateway = useGateway({ env: { GRAPHQL_MAX_DEPTH: '2' } });

  it('count operations by kind, requests by service, errors and refusals by code', async () => {
    const token = await gateway.auth.token(USER);
    await gateway.graphql('{ taskStatistics { total } }', { token });
    await gateway.graphql('{ taskStatistics { total } }');
    await gateway.graphql('{ tasks { edges { node { id } } } }', { token });
    await gateway.graphql('{ nothing }', { token });
    expect(await gateway.figure('graphql_operation_duration_seconds_count{operation_type="query"}')).toBe(2);
    expect(
      await gateway.figure('graphql_subgraph_request_duration_seconds_count{subgraph="tasks"}'),
    ).toBeGreaterThanOrEqual(2);
    expect(await gateway.figure('graphql_operation_errors_total{code="UNAUTHENTICATED"}')).toBe(1);
    expect(
      await gateway.figure('graphql_operations_refused_total{code="GRAPHQL_VALIDATION_FAILED"}'),
    ).toBeGreaterThanOrEqual(1);
  });
});

describe('the metrics of requests', () => {
  const gateway = useGateway();

  it('have one series per status for all requests that no route serves, with any path and method', async () => {
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
});
