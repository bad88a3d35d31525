/** Something took too long, or did not get on: a slow disk, server or network may be to blame for it as well as an archive. */
export class TooSlowError extends Error {
  override readonly name = 'TooSlowError';
}
