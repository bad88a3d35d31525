import { createLatencyHistogram, errorTypeOf, type Attributes, type SpanDescription } from '@taskmesh/service';
import { Gauge, type Registry } from 'prom-client';
import type { Pool } from 'pg';
import type { Statement } from './prepared-query.ts';

const OPERATIONS = new Set(['SELECT', 'INSERT', 'UPDATE', 'DELETE', 'WITH', 'BEGIN', 'COMMIT', 'ROLLBACK']);

/** Returns the operation by the statement's first word: one of a small, fixed set. */
function operationOf(query: unknown): string {
  const text = typeof query === 'object' && query !== null && 'text' in query ? query.text : query;
  const operation = /\w+/.exec(String(text))?.[0].toUpperCase() ?? '';
  return OPERATIONS.has(operation) ? operation : 'SQL';
}

/** Called when a statement has ended; `failure` is undefined on success. */
export type ObserveStatement = (query: unknown, seconds: number, failure?: unknown) => void;

/** Measures statements by operation. Names or texts would make too many series, and PostgreSQL has views for them. */
export function createStatementMetrics(registry: Registry, pool: string): ObserveStatement {
  const histogram = createLatencyHistogram(
    registry,
    'db_client_operation_duration_seconds',
    'Duration of a statement, without the wait for a connection',
    ...(['pool', 'db_operation_name', 'error_type'] as const),
  );
  return (query, seconds, failure) =>
    histogram.observe(
      {
        ...{ pool, db_operation_name: operationOf(query) },
        ...(failure !== undefined && { error_type: errorTypeOf(failure) }),
      },
      seconds,
    );
}

/** Spans contain the text of our own statements, which bind all values, but only the operation of the ORM's. */
export function createStatementSpans(url: string) {
  const { hostname, port, pathname } = new URL(url);
  const common: Attributes = {
    'db.system.name': 'postgresql',
    'db.namespace': pathname.slice(1),
    'server.address': hostname,
    'server.port': Number(port || 5432),
  };
  const ofStatements = new WeakMap<Statement, SpanDescription>();
  const describe = ({ name, text }: Statement): SpanDescription => ({
    name,
    kind: 'client',
    attributes: { ...common, 'db.query.summary': name, 'db.query.text': text.trim() },
  });
  return {
    named(statement: Statement): SpanDescription {
      const known = ofStatements.get(statement);
      if (known) return known;
      const fresh = describe(statement);
      ofStatements.set(statement, fresh);
      return fresh;
    },
    unnamed: (query: unknown): SpanDescription => {
      const operation = operationOf(query);
      return { name: operation, kind: 'client', attributes: { ...common, 'db.operation.name': operation } };
    },
  };
}

/** By registry and name, because services in one process share a registry. */
const measured = new WeakMap<Registry, Map<string, Pool>>();

export function measurePool(registry: Registry, name: string, pool: Pool): void {
  const known = measured.get(registry);
  if (known) return void known.set(name, pool);
  const pools = new Map([[name, pool]]);
  measured.set(registry, pools);
  const registers = [registry];
  new Gauge({
    name: 'db_client_connection_count',
    help: 'Connections of a pool to its database',
    labelNames: ['pool', 'state'],
    registers,
    collect() {
      for (const [pool, { totalCount, idleCount }] of pools) {
        this.set({ pool, state: 'idle' }, idleCount);
        this.set({ pool, state: 'used' }, totalCount - idleCount);
      }
    },
  });
  new Gauge({
    name: 'db_client_connection_pending_requests',
    help: 'Statements that wait for a connection of a pool',
    labelNames: ['pool'],
    registers,
    collect() {
      for (const [pool, { waitingCount }] of pools) this.set({ pool }, waitingCount);
    },
  });
}
