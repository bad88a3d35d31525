/** A dump that is not loaded: broken, hostile, or refused by PostgreSQL. For the log. */
export class LoadError extends Error {
  override readonly name = 'LoadError';
}
