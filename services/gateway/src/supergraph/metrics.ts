import { createLatencyHistogram, type Observe } from '@taskmesh/service';
import { Counter, type Registry } from 'prom-client';
import type { OperationResult, PreparedOperation } from './executor.ts';

export interface GraphMetrics {
  /** A query or mutation has run. */
  operation(operation: PreparedOperation, seconds: number, result: Pick<OperationResult, 'errors'>): void;
  /** Counts the requests to a service, answered or not. */
  requests(service: string): Observe;
  /** A client's operation was not let in. */
  refused(code: string): void;
}

/** Labels are operation types, our services and error codes; never names or documents, which clients choose. */
export function createGraphMetrics(registry: Registry): GraphMetrics {
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
    operation({ operation }, seconds, result) {
      observeOperation[operation.operation]?.(seconds);
      if (!result.errors) return;
      for (const { extensions } of result.errors) errors.inc({ code: String(extensions?.['code']) });
    },
    requests: (service) => requests.observer({ subgraph: service }),
    refused: (code) => refused.inc({ code }),
  };
}
