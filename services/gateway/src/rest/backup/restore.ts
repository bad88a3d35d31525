import type { AppError } from '@taskmesh/errors';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { InvalidOperation, type PreparedOperation } from '../../graph/executor.ts';
import { JSON_TYPE, toAppError } from '../../http/errors.ts';
import type { GatewayParts } from '../../parts.ts';
import { errorOf } from '../errors.ts';
import { readFileParameter } from './file-parameter.ts';

const PATH = '/api/backup/restore';
const ALLOW = 'POST, OPTIONS';
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

/** `POST /api/backup/restore?file=`: for operators; absent where the graph cannot restore. */
export function restoreRoute(app: FastifyInstance, parts: Parts): void {
  const operation = prepared(parts);
  if (!operation) return;
  void app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    // There is no body; one that is sent all the same is passed over.
    scope.addContentTypeParser('*', (_request, _payload, done) => done(null));
    scope.setErrorHandler((error, request, reply) => {
      const known = toAppError(error);
      if (known !== error && known.httpStatus === 500)
        parts.log.error({ err: error, requestId: request.id }, 'restore failed');
      return refuse(reply, known);
    });
    scope.route({ method: 'POST', url: PATH, handler: (request, reply) => restore(parts, operation, request, reply) });
    scope.route({ method: 'OPTIONS', url: PATH, handler: (_request, reply) => reply.code(204).header('allow', ALLOW).send() });
    scope.route({
      method: scope.supportedMethods.filter((method) => method !== 'POST' && method !== 'OPTIONS'),
      url: PATH,
      handler: (request, reply) => {
        const message = `${request.method} is not possible here; possible are ${ALLOW}.`;
        return send(reply.header('allow', ALLOW), 405, { success: false, message, error: message });
      },
    });
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
  if (!check.ok) {
    const message = check.status === 401 ? 'The backup token is missing or wrong.' : 'Only callers on this machine may restore.';
    if (check.status === 401) reply.header('www-authenticate', 'Bearer');
    return send(reply, check.status, { success: false, message, error: message });
  }
  const named = readFileParameter(request.raw.url ?? '');
  if ('refused' in named) return send(reply, named.status, { success: false, message: named.refused, error: named.refused });
  const call = parts.requestCall(request, { role: 'operator' });
  const { data, errors } = await parts.executor.run(operation, { file: named.file }, call);
  if (errors?.[0]) throw errorOf(errors[0]);
  const { success, message, error, outcome } = data?.['restore'] as Restored; // validated against the schema
  return send(reply, STATUS[outcome], { success, message, ...(!success && { error: error ?? message }) });
}

function refuse(reply: FastifyReply, { httpStatus, message, retryAfterSeconds }: AppError): FastifyReply {
  if (httpStatus === 503) reply.header('retry-after', String(retryAfterSeconds ?? 1));
  return send(reply, httpStatus, { success: false, message, error: message });
}

function send(reply: FastifyReply, status: number, body: { success: boolean; message: string; error?: string }): FastifyReply {
  return reply.code(status).header('content-type', JSON_TYPE).send(JSON.stringify(body));
}
