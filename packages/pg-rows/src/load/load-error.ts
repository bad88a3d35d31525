/** The dump was not loaded, because it is broken, malicious, or rejected by PostgreSQL. The message names the line. */
export class LoadError extends Error {
  override readonly name = 'LoadError';
}

/** Rejects a statement that would change rows in a way that is not allowed; `reason` is part of a sentence. */
export function refuse(reason: string): never {
  throw new LoadError(reason);
}
