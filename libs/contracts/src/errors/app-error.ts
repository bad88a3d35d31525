import { HTTP_STATUS, type ErrorCode } from './codes.ts';

/** One thing wrong with an input. `path` uses the client's field names, with dots between levels. */
export interface Issue {
  path: string;
  message: string;
}

export interface AppErrorOptions {
  /** For BAD_USER_INPUT: what is wrong with each field. */
  issues?: Issue[];
  /** For RATE_LIMITED, SERVICE_UNAVAILABLE, and a CONFLICT that passes: whole seconds to wait before retrying. */
  retryAfterSeconds?: number;
  /** What really happened; logged, never sent to the client. */
  cause?: unknown;
}

/** An expected failure: `message` is written for the client, `cause` for the log. Anything else thrown is a defect. */
export class AppError extends Error {
  override readonly name = 'AppError';
  readonly code: ErrorCode;
  readonly issues: Issue[] | undefined;
  readonly retryAfterSeconds: number | undefined;

  constructor(code: ErrorCode, message: string, options: AppErrorOptions = {}) {
    super(message, { cause: options.cause });
    this.code = code;
    this.issues = options.issues;
    this.retryAfterSeconds = options.retryAfterSeconds;
  }

  get httpStatus(): number {
    return HTTP_STATUS[this.code];
  }
}

export const unauthenticated = (message = 'A valid access token is needed.', cause?: unknown) =>
  new AppError('UNAUTHENTICATED', message, { cause });
export const forbidden = (message = 'You may not do this.') => new AppError('FORBIDDEN', message);
export const notFound = (message: string) => new AppError('NOT_FOUND', message);
export const conflict = (message: string) => new AppError('CONFLICT', message);
export const badUserInput = (issues: Issue[], message = issues.map((issue) => issue.message).join(' ')) =>
  new AppError('BAD_USER_INPUT', message, { issues });
export const rateLimited = (retryAfterSeconds: number, message = 'Too many requests; try again later.') =>
  new AppError('RATE_LIMITED', message, { retryAfterSeconds });
export const unavailable = (message = 'The service is not available right now; try again.', cause?: unknown) =>
  new AppError('SERVICE_UNAVAILABLE', message, { cause, retryAfterSeconds: 1 });
