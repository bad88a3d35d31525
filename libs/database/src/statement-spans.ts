import type { Attributes, SpanDescription } from '@taskmesh/telemetry';
import { operationOf } from './operation.ts';
import type { Statement } from './statement.ts';

/** What a trace tells of statements: the texts of ours, which bind all values, and of the ORM's only what they do. */
export function createStatementSpans(url: string) {
  const { hostname, port, pathname } = new URL(url);
  const common: Attributes = {
    'db.system.name': 'postgresql',
    'db.namespace': pathname.slice(1),
    'server.address': hostname,
    'server.port': Number(port || 5432),
  };
  return {
    named: ({ name, text }: Statement): SpanDescription => ({
      name,
      kind: 'client',
      attributes: { ...common, 'db.query.summary': name, 'db.query.text': text.trim() },
    }),
    unnamed: (query: unknown): SpanDescription => {
      const operation = operationOf(query);
      return { name: operation, kind: 'client', attributes: { ...common, 'db.operation.name': operation } };
    },
  };
}
