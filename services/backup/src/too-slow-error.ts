/** Something took too long or made no progress: because of the archive, or of a slow disk, server or network. */
export class TooSlowError extends Error {
  override readonly name = 'TooSlowError';
}
