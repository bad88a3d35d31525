// `Error.isError`, not `instanceof`: Node's own errors are of another realm where tests run.

/** A failure that the person at the terminal can do something about: the message says what is wrong and how to mend it. */
export class PlainError extends Error {
  override readonly name = 'PlainError';
}

/** What to print for an error: the message alone when it was written for people, the stack when it is a defect of ours. */
export function describeError(error: unknown): string {
  if (error instanceof PlainError) return error.message;
  return Error.isError(error) ? (error.stack ?? error.message) : String(error);
}

/** The code of a system call's error (`ENOENT`, `EADDRINUSE`), if it is one. */
export function errorCode(error: unknown): string | undefined {
  return Error.isError(error) && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}

/** An error's text, without its name and stack. */
export function errorMessage(error: unknown): string {
  return Error.isError(error) ? error.message : String(error);
}
