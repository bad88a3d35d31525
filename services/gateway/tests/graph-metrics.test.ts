import { startTestGateway, type TestGateway } from './fakes/gateway.ts';

const USER = 'a0000000-0000-4000-8000-000000000001';

describe('the metrics of the graph', () => {
  let gateway: TestGateway;

  beforeAll(async () => {
    gateway = await startTestGateway({ env: { GRAPHQL_MAX_DEPTH: '2' } });
  });
  afterAll(() => gateway.stop());

  const count = async (series: string) =>
    Number(
      (await gateway.metrics.metrics())
        .split('\n')
        .find((line) => line.startsWith(`${series} `))
        ?.split(' ')[1] ?? 0,
    );

  it('count operations by kind, requests by service, errors and refusals by code', async () => {
    const token = await gateway.auth.token(USER);
    await gateway.graphql('{ taskStatistics { total } }', { token });
    await gateway.graphql('{ taskStatistics { total } }');
    await gateway.graphql('{ tasks { edges { node { id } } } }', { token });
    await gateway.graphql('{ nothing }', { token });
    expect(await count('graphql_operation_duration_seconds_count{operation_type="query"}')).toBe(2);
    expect(await count('graphql_subgraph_request_duration_seconds_count{subgraph="tasks"}')).toBeGreaterThanOrEqual(2);
    expect(await count('graphql_operation_errors_total{code="UNAUTHENTICATED"}')).toBe(1);
    expect(await count('graphql_operations_refused_total{code="GRAPHQL_VALIDATION_FAILED"}')).toBeGreaterThanOrEqual(1);
  });
});
