import { AppError, isErrorCode, unavailable, type Issue } from '@taskmesh/errors';

/** An error as one service tells it to another. */
export interface WireError {
  code: string;
  message: string;
  issues?: Issue[];
  retryAfterSeconds?: number;
}

const DEFECT: WireError = { code: 'INTERNAL_SERVER_ERROR', message: 'Internal server error.' };

/** Of a defect no more than that there is one. */
export function toWireError(error: unknown): WireError {
  if (!(error instanceof AppError)) return DEFECT;
  const { code, message, issues, retryAfterSeconds } = error;
  return { code, message, ...(issues && { issues }), ...(retryAfterSeconds && { retryAfterSeconds }) };
}

/** Between services: a defect, or a caller that is refused, is no matter of any client's. */
const OURS = new Set(['INTERNAL_SERVER_ERROR', 'UNAUTHENTICATED', 'FORBIDDEN']);

/** The error that the other service meant; one that is about the services themselves makes it unavailable. */
export function fromWireError({ code, message, issues, retryAfterSeconds }: WireError, cause?: unknown): AppError {
  if (!isErrorCode(code) || OURS.has(code)) return unavailable(undefined, cause ?? new Error(message));
  return new AppError(code, message, { issues, retryAfterSeconds, cause });
}
