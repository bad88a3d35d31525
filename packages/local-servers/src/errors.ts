/** A failure that the user can fix. The message says what is wrong and how to fix it. */
export class PlainError extends Error {
  override readonly name = 'PlainError';
}

/** Returns what to print for an error: only the message of a PlainError, the stack of any other error, which is a defect. */
export function describeError(error: unknown): string {
  if (error instanceof PlainError) return error.message;
  // Not `instanceof Error`: in tests, Node's own errors come from another realm.
  return Error.isError(error) ? (error.stack ?? error.message) : String(error);
}

/** Waits until all have settled. @throws PlainError with the problems of all that failed */
export async function allOf<Result>(
  promises: Promise<Result>[],
  explain = (problems: string[]) => problems.join('\n'),
): Promise<Result[]> {
  const results = await Promise.allSettled(promises);
  const problems = results.flatMap((result) => (result.status === 'rejected' ? [describeError(result.reason)] : []));
  if (problems.length > 0) throw new PlainError(explain(problems));
  return Promise.all(promises);
}

/** Returns undefined if the call fails, for a process or file that has just disappeared or belongs to another user, or a full disk. */
export function attempt<Result>(action: () => Result): Result | undefined {
  try {
    return action();
  } catch {
    return undefined;
  }
}

/** The code of a system error (`ENOENT`, `EADDRINUSE`, …); empty for other errors. */
export const errorCode = (error: unknown): string =>
  Error.isError(error) && 'code' in error && typeof error.code === 'string' ? error.code : '';

export function indent(text: string): string {
  return text.replaceAll(/^/gm, '    ');
}
