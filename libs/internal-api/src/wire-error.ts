import { AppError, isErrorCode, unavailable, type Issue } from '@taskmesh/contracts';

export interface WireError {
  code: string;
  message: string;
  issues?: Issue[];
  retryAfterSeconds?: number;
}

const DEFECT: WireError = { code: 'INTERNAL_SERVER_ERROR', message: 'Internal server error.' };

/** Reveals nothing of a defect but that there is one. */
export function toWireError(error: unknown): WireError {
  if (!(error instanceof AppError)) return DEFECT;
  const { code, message, issues, retryAfterSeconds } = error;
  return { code, message, ...(issues && { issues }), ...(retryAfterSeconds && { retryAfterSeconds }) };
}

/** Defects and refused callers are problems between services, of no concern to clients. */
const OURS = new Set(['INTERNAL_SERVER_ERROR', 'UNAUTHENTICATED', 'FORBIDDEN']);

/** Restores the other service's error; one about the services themselves becomes SERVICE_UNAVAILABLE. */
export function fromWireError({ code, message, issues, retryAfterSeconds }: WireError, cause?: unknown): AppError {
  if (!isErrorCode(code) || OURS.has(code)) return unavailable(undefined, cause ?? new Error(message));
  return new AppError(code, message, { issues, retryAfterSeconds, cause });
}
