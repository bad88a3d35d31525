import { forbidden, unauthenticated } from '@taskmesh/errors';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { InvalidOperation, type PreparedOperation } from '../../graph/executor.ts';
import { JSON_TYPE, sendError, toAppError } from '../../http/errors.ts';
import { addOtherMethods } from '../../http/other-methods.ts';
import type { GatewayParts } from '../../parts.ts';
import { errorOf } from '../errors.ts';
import { readFileParameter } from './file-parameter.ts';

const PATH = '/api/backup/restore';
const OPERATION = `mutation RestRestore($file: String!) {
  restore: restoreBackup(file: $file) { success message error outcome }
}`;

interface Restored {
  success: boolean;
  message: string;
  error: string | null;
  outcome: keyof typeof STATUS;
}

/** Rules 1 to 10 of the interface document, as statuses. */
const STATUS = {
  RESTORED: 200,
  PROCESSED: 200,
  FILE_MISSING: 400,
  FILE_OUTSIDE: 403,
  FILE_NOT_FOUND: 404,
  EXTRACTION_FAILED: 500,
  FAILED: 500,
};

type Parts = Pick<GatewayParts, 'executor' | 'operator' | 'requestCall' | 'log'>;

/** `POST /api/backup/restore?file=`: for operators; absent where the graph cannot restore. A body is passed over. */
export function restoreRoute(app: FastifyInstance, parts: Parts): void {
  const operation = prepared(parts);
  if (!operation) return;
  void app.register(async (scope) => {
    scope.setErrorHandler((error, request, reply) => {
      const known = toAppError(error);
      if (known !== error && known.httpStatus === 500)
        parts.log.error({ err: error, requestId: request.id }, 'restore failed');
      return sendError(reply, known, 'backup');
    });
    scope.post(PATH, (request, reply) => restore(parts, operation, request, reply));
    addOtherMethods(scope, PATH, ['POST'], 'backup');
  });
}

function prepared({ executor }: Parts): PreparedOperation | undefined {
  try {
    return executor.prepare(OPERATION);
  } catch (error) {
    if (error instanceof InvalidOperation) return undefined;
    throw error;
  }
}

async function restore(parts: Parts, operation: PreparedOperation, request: FastifyRequest, reply: FastifyReply) {
  const check = parts.operator(request.raw);
  if (!check.ok)
    throw check.status === 401
      ? unauthenticated('The backup token is missing or wrong.')
      : forbidden('Only callers on this machine may restore.');
  const named = readFileParameter(request.raw.url ?? '');
  if ('refused' in named)
    return send(reply, named.status, { success: false, message: named.refused, error: named.refused });
  const call = parts.requestCall(request, { role: 'operator' });
  const { data, errors } = await parts.executor.run(operation, { file: named.file }, call);
  if (errors?.[0]) throw errorOf(errors[0]);
  const { success, message, error, outcome } = data?.['restore'] as Restored; // validated against the schema
  return send(reply, STATUS[outcome], { success, message, ...(!success && { error: error ?? message }) });
}

function send(
  reply: FastifyReply,
  status: number,
  body: { success: boolean; message: string; error?: string },
): FastifyReply {
  return reply.code(status).header('content-type', JSON_TYPE).send(JSON.stringify(body));
}
