export interface InputIssue {
  /** Dots between levels, in the client's own field names. */
  path: string;
  message: string;
}

export interface ErrorDetails {
  issues?: InputIssue[] | undefined;
  retryAfterMs?: number | undefined;
  cause?: unknown;
}

/**
 * What went wrong. `code` is the server's (`docs/errors.md`), or one of the client's own: NETWORK (no answer, or none that
 * can be read), SIGNED_OUT (nobody is signed in, or somebody else by now), QUEUE_FULL (too many writes wait), STORAGE (a
 * write could not be kept), SIGN_IN_NOT_BEGUN (a code without the secret of the page that began), OUTCOME_UNKNOWN (nobody can tell whether a write was done), NOT_CREATED (a change of a task
 * whose creation failed).
 */
export class TaskmeshError extends Error {
  override readonly name = 'TaskmeshError';
  readonly code: string;
  /** With BAD_USER_INPUT. */
  readonly issues: readonly InputIssue[];
  /** Sooner is of no use. */
  readonly retryAfterMs: number;

  constructor(code: string, message: string, { issues = [], retryAfterMs = 0, cause }: ErrorDetails = {}) {
    super(message, { cause });
    this.code = code;
    this.issues = issues;
    this.retryAfterMs = retryAfterMs;
  }
}

const PASSING = new Set(['NETWORK', 'SERVICE_UNAVAILABLE', 'RATE_LIMITED']);

/** The same may go well a little later. */
export function isPassing(error: TaskmeshError): boolean {
  return PASSING.has(error.code);
}

export function toTaskmeshError(error: unknown): TaskmeshError {
  if (error instanceof TaskmeshError) return error;
  return new TaskmeshError('NETWORK', error instanceof Error ? error.message : String(error), { cause: error });
}

/** As GraphQL tells them. */
export interface GraphqlError {
  message: string;
  extensions?: { code?: string; issues?: InputIssue[]; retryAfterSeconds?: number };
}

/** The first one counts. */
export function errorOf([first]: readonly GraphqlError[], cause?: unknown): TaskmeshError {
  const { code = 'INTERNAL_SERVER_ERROR', issues, retryAfterSeconds = 0 } = first?.extensions ?? {};
  return new TaskmeshError(code, first?.message ?? 'No message.', {
    issues,
    retryAfterMs: retryAfterSeconds * 1_000,
    cause,
  });
}
