import { AppError, notFound } from '@taskmesh/contracts';
import type { FastifyInstance, FastifyReply, FastifyRequest, HTTPMethods } from 'fastify';
import { randomUUID } from 'node:crypto';
import { STATUS_CODES } from 'node:http';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The route exists only to say which methods its path supports. */
    refusesMethod?: boolean;
  }
}

export const JSON_TYPE = 'application/json; charset=utf-8';

/** `tasks` (the full task contract, and operators) adds `success` to each response; in `backup`, `error` is also a string. */
export type Envelope = 'tasks' | 'plain' | 'backup';

/** The form depends on the envelope: `{success?, message, error: {code, details?, requestId?} or a string}`. */
export function sendError(reply: FastifyReply, error: AppError, envelope: Envelope = 'plain'): FastifyReply {
  return setErrorHead(reply, error)
    .header('content-type', JSON_TYPE)
    .header('x-content-type-options', 'nosniff')
    .send(errorText(error, reply.request.id, envelope));
}

export type HandleUnknownPath = (request: FastifyRequest, reply: FastifyReply) => FastifyReply;

export const sendUnknownPath = (reply: FastifyReply): FastifyReply =>
  sendError(reply, notFound('There is nothing at this path.'));

/** Sets the status, and the headers that belong to it. */
export function setErrorHead(
  reply: FastifyReply,
  { httpStatus, retryAfterSeconds }: { httpStatus: number; retryAfterSeconds?: number | undefined },
): FastifyReply {
  if (httpStatus === 401) reply.header('www-authenticate', 'Bearer');
  if (httpStatus === 429 || httpStatus === 503 || retryAfterSeconds !== undefined)
    reply.header('retry-after', String(retryAfterSeconds ?? 1));
  return reply.code(httpStatus);
}

const errorText = (error: AppError, requestId: string, envelope: Envelope = 'plain'): string =>
  JSON.stringify(errorBody(error, requestId, envelope));

/** For a defect, clients get only the request id. */
export function errorBody({ httpStatus, code, message, issues }: AppError, requestId: string, envelope: Envelope) {
  if (envelope === 'backup') return { success: false, message, error: message };
  return {
    ...(envelope !== 'plain' && { success: false }),
    message,
    error: { code, ...(issues && { details: issues }), ...(httpStatus >= 500 && { requestId }) },
  };
}

/** An error response for a connection on which Node's server no longer responds. It is the last on that connection. */
export function rawError(error: AppError, status: number, headers: readonly string[] = []): string {
  const requestId = randomUUID();
  const body = errorText(error, requestId);
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    `Content-Type: ${JSON_TYPE}`,
    `Content-Length: ${Buffer.byteLength(body)}`,
    `X-Request-Id: ${requestId}`,
    ...headers,
    'Connection: close',
  ];
  return `${head.join('\r\n')}\r\n\r\n${body}`;
}

const READ = ['GET', 'HEAD'];

/** Serves a path that can only be read. */
export function serveReadOnly(
  app: FastifyInstance,
  url: string,
  handler: (request: FastifyRequest, reply: FastifyReply) => unknown,
): void {
  app.route({ method: READ, url, handler });
  refuseOtherMethods(app, url, READ);
}

/**
 * For a path that supports only `methods`: responds to OPTIONS with the list, and to any other method with a 405 and the list.
 * Neither needs a token.
 */
export function refuseOtherMethods(
  app: FastifyInstance,
  url: string,
  methods: readonly string[],
  envelope: Envelope = 'plain',
): void {
  const known = [...methods, 'OPTIONS'];
  const allow = known.join(', ');
  // In `onRequest`, so that the body is never read.
  const add = (
    method: HTTPMethods | HTTPMethods[],
    onRequest: (request: FastifyRequest, reply: FastifyReply) => void,
  ) => app.route({ method, url, config: { refusesMethod: true }, onRequest, handler: () => undefined });

  add('OPTIONS', (_request, reply) => {
    reply.code(204).header('allow', allow).send();
  });
  const others = app.supportedMethods.filter((method) => !known.includes(method));
  add(others, ({ method }, reply) => {
    const message = `${method} is not possible here; possible are ${allow}.`;
    sendError(reply.header('allow', allow), new AppError('METHOD_NOT_ALLOWED', message), envelope);
  });
}
