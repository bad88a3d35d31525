import type { Issue } from '@taskmesh/errors';
import type { FastifyReply } from 'fastify';
import { JSON_TYPE, toAppError } from '../http/errors.ts';

/** Endpoints of the full task contract say `success` in each answer; the others do not. */
export type Envelope = 'tasks' | 'plain';

interface ErrorBody {
  success?: false;
  message: string;
  error: { code: string; details?: Issue[]; requestId?: string };
}

/** Answers with an error, as the endpoint's family does. Of a defect only the request's id is told. */
export function sendError(reply: FastifyReply, envelope: Envelope, thrown: unknown): FastifyReply {
  const { httpStatus, code, message, issues, retryAfterSeconds } = toAppError(thrown);
  const body: ErrorBody = {
    ...(envelope === 'tasks' && { success: false }),
    message,
    error: { code, ...(issues && { details: issues }), ...(httpStatus >= 500 && { requestId: reply.request.id }) },
  };
  if (httpStatus === 401) reply.header('www-authenticate', 'Bearer');
  if (httpStatus === 429 || httpStatus === 503) reply.header('retry-after', String(retryAfterSeconds ?? 1));
  return reply.code(httpStatus).header('content-type', JSON_TYPE).send(JSON.stringify(body));
}
