const OPERATIONS = new Set(['SELECT', 'INSERT', 'UPDATE', 'DELETE', 'WITH', 'BEGIN', 'COMMIT', 'ROLLBACK']);

/** The operation, judged by the statement's first word; one of a small, fixed set. */
export function operationOf(query: unknown): string {
  const text = typeof query === 'object' && query !== null && 'text' in query ? query.text : query;
  const operation = /\w+/.exec(String(text))?.[0].toUpperCase() ?? '';
  return OPERATIONS.has(operation) ? operation : 'SQL';
}
