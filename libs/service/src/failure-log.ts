import { errorMessage } from '@taskmesh/contracts/error-details';

export interface FailureLog {
  failed(error: unknown): void;
  /** Returns whether a failure was logged since the last success. */
  succeeded(): boolean;
}

const REPEAT_AFTER_MS = 60_000;

/**
 * Of failures in a row, reports the first, each one with another cause than the last, and one a minute: a log says what
 * is wrong now, also to someone who reads only its end.
 */
export function createFailureLog(
  report: (error: unknown, failures: number) => void,
  { monotonicMs = () => performance.now() }: { monotonicMs?: () => number } = {},
): FailureLog {
  let failures = 0;
  let reported: { cause: string; atMs: number } | undefined;
  return {
    failed(error) {
      failures++;
      const cause = causeOf(error);
      const isKnown = reported?.cause === cause && monotonicMs() - reported.atMs < REPEAT_AFTER_MS;
      if (isKnown) return;
      reported = { cause, atMs: monotonicMs() };
      report(error, failures);
    },
    succeeded() {
      const wasFailing = reported !== undefined;
      [failures, reported] = [0, undefined];
      return wasFailing;
    },
  };
}

/** The message of an AppError is for clients: its cause says what failed. */
function causeOf(error: unknown): string {
  return Error.isError(error) && error.cause !== undefined ? causeOf(error.cause) : errorMessage(error);
}
