export interface InputIssue {
  /** The path of the input field, with dots between levels. */
  path: string;
  message: string;
}

export interface ErrorDetails {
  issues?: InputIssue[] | undefined;
  retryAfterMs?: number | undefined;
  cause?: unknown;
}

/**
 * Any failure of the client. `code` is the server's (`docs/errors.md`), or one of the client's own: NETWORK (no readable
 * response), SIGNED_OUT (no one is signed in, another user is by now, or the client is closed), QUEUE_FULL (too many pending
 * writes), STORAGE (a write could not be stored), SIGN_IN_NOT_BEGUN (the sign-in was not started in this browser),
 * OUTCOME_UNKNOWN (the write may or may not have taken effect), NOT_CREATED (a change of a task whose creation failed).
 */
export class TaskmeshError extends Error {
  override readonly name = 'TaskmeshError';
  readonly code: string;
  /** Empty unless the code is BAD_USER_INPUT. */
  readonly issues: readonly InputIssue[];
  /** A retry before this time has passed would fail, too. */
  readonly retryAfterMs: number;

  constructor(code: string, message: string, { issues = [], retryAfterMs = 0, cause }: ErrorDetails = {}) {
    super(message, { cause });
    this.code = code;
    this.issues = issues;
    this.retryAfterMs = retryAfterMs;
  }
}

const TRANSIENT = new Set(['NETWORK', 'SERVICE_UNAVAILABLE', 'RATE_LIMITED']);

/** Whether a retry of the same request may succeed. */
export function isTransient(error: TaskmeshError): boolean {
  return TRANSIENT.has(error.code);
}

/** Whether no session accepted the request: it has ended, or a fresh token is not valid yet. The request itself is not to blame. */
const isOfSession = ({ code }: TaskmeshError): boolean => code === 'SIGNED_OUT' || code === 'UNAUTHENTICATED';

/** Whether our own request was not processed, but may be later. FORBIDDEN: its text is not trusted, as during an update. */
export const isUnprocessed = (error: TaskmeshError): boolean => isOfSession(error) || error.code === 'FORBIDDEN';

export function toTaskmeshError(error: unknown): TaskmeshError {
  if (error instanceof TaskmeshError) return error;
  return new TaskmeshError('NETWORK', error instanceof Error ? error.message : String(error), { cause: error });
}

/** For requests that only prepare another one, which their failure does not decide: that one stays pending. */
export function asTransient(error: unknown): TaskmeshError {
  const known = toTaskmeshError(error);
  if (isTransient(known) || isOfSession(known)) return known;
  return new TaskmeshError('SERVICE_UNAVAILABLE', known.message, { cause: known });
}

/** An error in a GraphQL response. */
export interface GraphqlError {
  message: string;
  extensions?: { code?: string; issues?: InputIssue[]; retryAfterSeconds?: number };
}

/** Converts the first of the errors; the others are ignored. */
export function errorOf([first]: readonly GraphqlError[], cause?: unknown): TaskmeshError {
  const { code = 'INTERNAL_SERVER_ERROR', issues, retryAfterSeconds = 0 } = first?.extensions ?? {};
  return new TaskmeshError(code, first?.message ?? 'No message.', {
    issues,
    retryAfterMs: retryAfterSeconds * 1_000,
    cause,
  });
}
