/** `error.type` of spans and metrics: an error's code, type (Kafka) or name; never its message, which may quote. */
export function errorTypeOf(failure: unknown): string {
  if (typeof failure === 'string') return failure;
  if (!(failure instanceof Error)) return '_OTHER';
  const { code, type } = failure as { code?: unknown; type?: unknown };
  if (typeof code === 'string') return code;
  return typeof type === 'string' ? type : failure.name;
}
