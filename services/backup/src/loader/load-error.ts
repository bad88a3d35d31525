/** A dump that is not loaded: broken, hostile, or refused by PostgreSQL. For the log. */
export class LoadError extends Error {
  override readonly name = 'LoadError';
}

/** A statement that would change the rows in a way that is not allowed; `reason` is a part of a sentence. */
export function refuse(reason: string): never {
  throw new LoadError(reason);
}
