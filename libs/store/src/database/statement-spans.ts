import type { Attributes, SpanDescription } from '@taskmesh/service';
import { operationOf } from './operation.ts';
import type { Statement } from './statement.ts';

/** Spans show the full text of our own statements, which bind all values, but only the operation of the ORM's. */
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
