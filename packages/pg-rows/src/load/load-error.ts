/** The dump was not loaded: it is broken, hostile, or refused by PostgreSQL. The message names the line. */
export class LoadError extends Error {
  override readonly name = 'LoadError';
}

/** Rejects a statement that would change rows in a way that is not allowed; `reason` is part of a sentence. */
export function refuse(reason: string): never {
  throw new LoadError(reason);
}
