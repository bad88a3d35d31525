import { AppError, toGraphQLError } from '@taskmesh/errors';
import type { Log } from '@taskmesh/service';

export interface ErrorAnswer {
  status: number;
  body: { errors: object[] };
}

/** What the caller hears of a request that failed as a whole. */
export function createErrorAnswer(log: Log) {
  return (error: unknown, url: string | undefined): ErrorAnswer => {
    if (error instanceof AppError)
      return { status: error.httpStatus, body: { errors: [toGraphQLError(error).toJSON()] } };
    const status = error instanceof Error && 'statusCode' in error ? Number(error.statusCode) : 500;
    if (status >= 500) log.error({ err: error, url }, 'request failed');
    return { status, body: { errors: [{ message: status < 500 ? String(error) : 'Internal server error' }] } };
  };
}
