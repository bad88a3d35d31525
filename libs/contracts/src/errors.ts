import { GraphQLError, type GraphQLErrorExtensions } from 'graphql';

/** Every code a client may see, with its HTTP status over REST. GraphQL has the same code in `extensions.code`. */
export const HTTP_STATUS = {
  BAD_USER_INPUT: 400,
  UNAUTHENTICATED: 401,
  FORBIDDEN: 403,
  NOT_FOUND: 404,
  METHOD_NOT_ALLOWED: 405,
  LINK_REQUIRED: 409,
  CONFLICT: 409,
  CURSOR_EXPIRED: 410,
  PRECONDITION_FAILED: 412,
  PAYLOAD_TOO_LARGE: 413,
  UNSUPPORTED_MEDIA_TYPE: 415,
  RATE_LIMITED: 429,
  INTERNAL_SERVER_ERROR: 500,
  SERVICE_UNAVAILABLE: 503,
} as const;

export type ErrorCode = keyof typeof HTTP_STATUS;

export function isErrorCode(value: unknown): value is ErrorCode {
  return typeof value === 'string' && Object.hasOwn(HTTP_STATUS, value);
}

/** One thing wrong with an input. `path` uses the client's field names, with dots between levels. */
export interface Issue {
  path: string;
  message: string;
}

export interface AppErrorOptions {
  /** For BAD_USER_INPUT: what is wrong with each field. */
  issues?: Issue[];
  /** For RATE_LIMITED, SERVICE_UNAVAILABLE and a temporary CONFLICT: whole seconds to wait before retrying. */
  retryAfterSeconds?: number;
  /** The underlying error; logged, never sent to the client. */
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

const BY_STATUS = new Map<number, ErrorCode>(
  Object.entries(HTTP_STATUS).map(([code, status]) => [status, code as ErrorCode]), // the keys are codes
);

/** Turns anything thrown into an error that clients may see; a framework's own errors have a `statusCode`. */
export function toAppError(error: unknown): AppError {
  if (error instanceof AppError) return error;
  const status = error instanceof Error && 'statusCode' in error ? Number(error.statusCode) : 500;
  if (!(status >= 400 && status < 500))
    return new AppError('INTERNAL_SERVER_ERROR', 'Internal server error.', { cause: error });
  return new AppError(BY_STATUS.get(status) ?? 'BAD_USER_INPUT', 'The request could not be read.', { cause: error });
}

export function toGraphQLError(error: AppError): GraphQLError {
  return new GraphQLError(error.message, { extensions: extensionsOf(error), originalError: error });
}

function extensionsOf({ code, issues, retryAfterSeconds }: AppError): GraphQLErrorExtensions {
  return {
    code,
    ...(issues && { issues }),
    ...(code !== 'SERVICE_UNAVAILABLE' && retryAfterSeconds !== undefined && { retryAfterSeconds }),
  };
}
