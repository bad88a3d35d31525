import { createLatencyHistogram, type Observe, errorTypeOf } from '@taskmesh/service';
import type { Registry } from 'prom-client';
import { operationOf } from './operation.ts';

/** Called when a statement was answered; `failure` is undefined on success. */
export type ObserveStatement = (query: unknown, seconds: number, failure?: unknown) => void;

/** Times statements by operation: names and texts would be too many labels, and PostgreSQL has views for them. */
export function createStatementMetrics(registry: Registry, pool: string): ObserveStatement {
  const histogram = createLatencyHistogram<'pool' | 'db_operation_name' | 'error_type'>(registry, {
    name: 'db_client_operation_duration_seconds',
    help: 'Time until a statement was answered, without the wait for a connection',
  });
  const byOperation = new Map<string, Observe>();
  const observerOf = (query: unknown, failure?: unknown) => {
    const operation = operationOf(query);
    const error = failure === undefined ? undefined : errorTypeOf(failure);
    const key = error === undefined ? operation : `${operation} ${error}`;
    let observe = byOperation.get(key);
    if (!observe) {
      observe = histogram.observer({ pool, db_operation_name: operation, ...(error && { error_type: error }) });
      byOperation.set(key, observe);
    }
    return observe;
  };
  /** Observers of successful named statements, so that their texts are not parsed again. */
  const byName = new Map<string, Observe>();
  return (query, seconds, failure) => {
    const name = nameOf(query);
    if (name === undefined || failure !== undefined) return observerOf(query, failure)(seconds);
    let observe = byName.get(name);
    if (!observe) byName.set(name, (observe = observerOf(query)));
    observe(seconds);
  };
}

function nameOf(query: unknown): string | undefined {
  return typeof query === 'object' && query !== null && 'name' in query ? String(query.name) : undefined;
}
