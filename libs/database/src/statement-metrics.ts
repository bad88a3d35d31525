import { createLatencyHistogram, type Observe } from '@taskmesh/service';
import { errorTypeOf } from '@taskmesh/telemetry';
import type { Registry } from 'prom-client';
import { operationOf } from './operation.ts';

/** A statement was answered: `failure` says how, undefined that it was done. */
export type ObserveStatement = (query: unknown, seconds: number, failure?: unknown) => void;

/** Times the statements of a pool by what they do: their texts and names are too many, and belong to PostgreSQL's own views. */
export function createStatementMetrics(registry: Registry, pool: string): ObserveStatement {
  const histogram = createLatencyHistogram<'pool' | 'db_operation_name' | 'error_type'>(registry, {
    name: 'db_client_operation_duration_seconds',
    help: 'Time until a statement was answered, without the wait for a connection',
  });
  const observers = new Map<string, Observe>();
  const observerOf = (operation: string, errorType: string | undefined) => {
    const key = `${operation} ${errorType}`;
    const known = observers.get(key);
    if (known) return known;
    const observe = histogram.observer({
      ...{ pool, db_operation_name: operation },
      ...(errorType !== undefined && { error_type: errorType }),
    });
    observers.set(key, observe);
    return observe;
  };
  return (query, seconds, failure) => {
    observerOf(operationOf(query), failure === undefined ? undefined : errorTypeOf(failure))(seconds);
  };
}
