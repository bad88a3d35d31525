import { useGateway } from './fakes/gateway.ts';

const USER = 'a0000000-0000-4000-8000-000000000001';

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
