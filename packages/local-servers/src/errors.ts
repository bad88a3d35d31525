/** A failure that the user at the terminal can fix: the message says what is wrong and how to fix it. */
export class PlainError extends Error {
  override readonly name = 'PlainError';
}

/** What to print for an error: the message alone when it was written for people, the stack when it is a defect of ours. */
export function describeError(error: unknown): string {
  if (error instanceof PlainError) return error.message;
  // Not `instanceof`: Node's own errors are of another realm where tests run.
  return Error.isError(error) ? (error.stack ?? error.message) : String(error);
}

/** The results, once all have settled. @throws PlainError with the problems of those that failed */
export async function allOf<Result>(
  works: Promise<Result>[],
  explain = (problems: string[]) => problems.join('\n'),
): Promise<Result[]> {
  const results = await Promise.allSettled(works);
  const problems = results.flatMap((result) => (result.status === 'rejected' ? [describeError(result.reason)] : []));
  if (problems.length > 0) throw new PlainError(explain(problems));
  return Promise.all(works);
}

/** The result; undefined when the call fails, for a process or file that has just gone or belongs to another user. */
export function ifThere<Result>(look: () => Result): Result | undefined {
  try {
    return look();
  } catch {
    return undefined;
  }
}

/** The code of a system's error: `ENOENT`, `EADDRINUSE`, …; empty for others. */
export const errorCode = (error: unknown): string =>
  Error.isError(error) && 'code' in error && typeof error.code === 'string' ? error.code : '';

export function indent(text: string): string {
  return text.replaceAll(/^/gm, '    ');
}
