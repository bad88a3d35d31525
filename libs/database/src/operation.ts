const OPERATIONS = new Set(['SELECT', 'INSERT', 'UPDATE', 'DELETE', 'WITH', 'BEGIN', 'COMMIT', 'ROLLBACK']);

/** What a statement does, as far as its first word tells; one of few, whatever the statement. */
export function operationOf(query: unknown): string {
  const text = typeof query === 'object' && query !== null && 'text' in query ? query.text : query;
  const operation = /\w+/.exec(String(text))?.[0].toUpperCase() ?? '';
  return OPERATIONS.has(operation) ? operation : 'SQL';
}
