import type { GraphQLDataSource, ServiceMap } from '@apollo/gateway';
import { createLatencyHistogram, type Observe } from '@taskmesh/service';
import { Counter, type Registry } from 'prom-client';
import type { Admit } from '../graphql/admission.ts';
import { InvalidOperation, type GraphExecutor } from './executor.ts';

/** What the graph counts: by kinds of operations, by services of ours and by codes; names and documents are the clients'. */
export function createGraphMetrics(registry: Registry) {
  const registers = [registry];
  const operations = createLatencyHistogram<'operation_type'>(registry, {
    name: 'graphql_operation_duration_seconds',
    help: 'Time to run a query or mutation, those of REST included',
  });
  const requests = createLatencyHistogram<'subgraph'>(registry, {
    name: 'graphql_subgraph_request_duration_seconds',
    help: 'Time until a service answered one request of an operation',
  });
  const errors = new Counter({
    name: 'graphql_operation_errors_total',
    help: 'Errors in results of operations, by code',
    labelNames: ['code'],
    registers,
  });
  const refused = new Counter({
    name: 'graphql_operations_refused_total',
    help: 'Operations of clients that were not let in: limits, validation, documents that are not trusted',
    labelNames: ['code'],
    registers,
  });
  const observeOperation: Record<string, Observe> = {
    query: operations.observer({ operation_type: 'query' }),
    mutation: operations.observer({ operation_type: 'mutation' }),
  };

  return {
    executor: (executor: GraphExecutor): GraphExecutor => ({
      ...executor,
      async run(operation, variables, call) {
        const begunMs = performance.now();
        const result = await executor.run(operation, variables, call);
        observeOperation[operation.operation.operation]?.((performance.now() - begunMs) / 1_000);
        for (const { extensions } of result.errors ?? []) errors.inc({ code: String(extensions?.['code']) });
        return result;
      },
    }),

    services: (services: ServiceMap): ServiceMap =>
      Object.fromEntries(
        Object.entries(services).map(([name, service]) => {
          const observe = requests.observer({ subgraph: name });
          const process: GraphQLDataSource['process'] = async (options) => {
            const begunMs = performance.now();
            try {
              return await service.process(options);
            } finally {
              observe((performance.now() - begunMs) / 1_000);
            }
          };
          return [name, { process }];
        }),
      ),

    admit: (admit: Admit): Admit =>
      async function measured(sent, how) {
        try {
          return await admit(sent, how);
        } catch (error) {
          if (error instanceof InvalidOperation) refused.inc({ code: error.code });
          throw error;
        }
      },
  };
}
