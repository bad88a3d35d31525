import { AppError, toAppError } from '@taskmesh/contracts';
import { closePromptly, type Log } from '@taskmesh/service';
import { fastify, type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { randomUUID } from 'node:crypto';
import { METHODS, type IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { GatewayConfig } from '../config.ts';
import { createCors } from './cors.ts';
import { errorText, JSON_TYPE, refuseUnknownPath, sendError, type AnswerUnknownPath } from './errors.ts';
import { awaitContinue } from './expect-continue.ts';
import { headerValues } from './header-values.ts';
import { mayTakeLong } from './streamed-bodies.ts';
import { BODY_LIMIT_BYTES } from './json-bytes.ts';
import { limitConnections } from './limit-connections.ts';
import { leaveBodiesUnread } from './leave-bodies-unread.ts';
import { cutSlowReaders, clientTimeouts } from './client-timeouts.ts';
import { currentResponse, serveInTurn } from './current-response.ts';

const MAX_HEADER_BYTES = 16 * 1024;
/** Longer than a load balancer keeps an idle connection, so that the balancer closes first. */
const KEEP_ALIVE_MS = 72_000;
/** Of one address, beside the sockets that it may have. */
const MAX_PLAIN_CONNECTIONS = 1_000;
/** Time for busy clients to notice that they should open another connection. */
const LINGER_MS = 3_000;

export interface AppDeps {
  log: Log;
  /** What offers an upgrade and is none by this is an ordinary request (RFC 9110, 7.8). */
  isUpgrade: (request: IncomingMessage) => boolean;
  /** Serves what people get at a path where nothing is. Absent: everybody gets the error that programs get. */
  serveUnknownPath?: ((app: FastifyInstance) => AnswerUnknownPath) | undefined;
}

/** An HTTP app with no routes of the API: ids, errors, limits and methods are as every route of ours has them. */
export function createApp(config: GatewayConfig, deps: AppDeps): FastifyInstance {
  const { log, isUpgrade, serveUnknownPath } = deps;
  const { http, ...timeouts } = clientTimeouts(config.requestTimeoutMs);
  const app = fastify({
    logger: false,
    bodyLimit: BODY_LIMIT_BYTES,
    requestIdHeader: false,
    genReqId: () => randomUUID(),
    exposeHeadRoutes: false,
    // Requests that still arrive while the gateway stops are answered, then their connections are closed.
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    ...timeouts,
    keepAliveTimeout: KEEP_ALIVE_MS,
    // No id may be too long for its route: overlong ids get the same answer as other unknown ids.
    routerOptions: { ignoreTrailingSlash: true, caseSensitive: true, maxParamLength: MAX_HEADER_BYTES },
    // Without a Host, Node would answer by itself, with neither an id nor a body.
    http: { maxHeaderSize: MAX_HEADER_BYTES, requireHostHeader: false, shouldUpgradeCallback: isUpgrade, ...http },
    clientErrorHandler: answerBadRequest,
    // A path that cannot be decoded matches nothing.
    frameworkErrors: (_error, request, reply) => {
      beginReply(request, reply);
      answerUnknown(request, reply);
    },
  });

  const maxPerNetwork = config.realtime.maxSocketsPerIp + MAX_PLAIN_CONNECTIONS;
  limitConnections(app.server, { maxPerNetwork, trustedProxies: config.trustedProxies });
  awaitContinue(app.server);
  cutSlowReaders(app);
  closePromptly(app, { lingerMs: config.production ? LINGER_MS : 0 });
  for (const method of METHODS) {
    if (method !== 'CONNECT' && !app.supportedMethods.includes(method)) app.addHttpMethod(method);
  }

  serveInTurn(app);
  const cors = createCors(config);
  const beginReply = (request: FastifyRequest, reply: FastifyReply) => {
    reply.header('x-request-id', request.id);
    cors(request, reply);
  };
  app.addHook('onRequest', (request, reply, done) => {
    beginReply(request, reply);
    const wrongHost = whyHostIsWrong(request.raw);
    if (wrongHost !== undefined) return void sendError(reply, new AppError('BAD_USER_INPUT', wrongHost));
    if (hasUnknownCoding(request.raw)) return void sendError(reply, unknownCoding());
    done();
  });
  leaveBodiesUnread(app);
  const answerUnknown: AnswerUnknownPath = serveUnknownPath?.(app) ?? ((_request, reply) => refuseUnknownPath(reply));
  app.setNotFoundHandler(answerUnknown);
  app.setErrorHandler((error, request, reply) => {
    const known = toAppError(error);
    if (known.httpStatus === 500) log.error({ err: error, requestId: request.id }, 'request failed');
    return sendError(reply, known);
  });
  return app;
}

/** RFC 9112, 3.2: there is one, which only HTTP/1.0 may omit. */
function whyHostIsWrong(request: IncomingMessage): string | undefined {
  const hosts = headerValues(request, 'host').length;
  if (hosts > 1) return 'There is more than one Host.';
  return hosts === 0 && request.httpVersion !== '1.0' ? 'There is no Host.' : undefined;
}

/** Node undoes `chunked` only, and passes on what is encoded otherwise as it is. */
function hasUnknownCoding({ headers }: IncomingMessage): boolean {
  const coding = headers['transfer-encoding'];
  return coding !== undefined && coding.trim().toLowerCase() !== 'chunked';
}

const unknownCoding = () => new AppError('UNSUPPORTED_MEDIA_TYPE', 'The transfer encoding must be chunked.');

/** Requests that Node's parser rejects never reach the app, so the answer is written by hand. */
function answerBadRequest(error: Error & { code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || socket.destroyed) return;
  // Written into the response of an earlier request, this one would be taken for a part of it.
  if (isAnswering(socket)) return void socket.destroy();
  if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT') {
    if (mayTakeLong(socket)) return;
    // Without a request there is nothing to answer; one on its way could mistake the answer for its own.
    if (socket.bytesRead === 0) return void socket.destroy();
  }
  const refused = REFUSALS[error.code ?? ''] ?? BAD_REQUEST;
  const requestId = randomUUID();
  const body = errorText(new AppError(refused.code, refused.message), requestId);
  if (socket.writable) {
    const head = [
      `HTTP/1.1 ${refused.status}`,
      `Content-Type: ${JSON_TYPE}`,
      `Content-Length: ${Buffer.byteLength(body)}`,
      `X-Request-Id: ${requestId}`,
      'Connection: close',
    ];
    socket.write(`${head.join('\r\n')}\r\n\r\n${body}`);
  }
  socket.destroySoon();
}

function isAnswering(socket: Socket): boolean {
  const response = currentResponse(socket);
  return response?.headersSent === true && !response.writableFinished;
}

interface Refusal {
  status: string;
  code: 'BAD_USER_INPUT' | 'PAYLOAD_TOO_LARGE';
  message: string;
}

const BAD_REQUEST: Refusal = {
  status: '400 Bad Request',
  code: 'BAD_USER_INPUT',
  message: 'This is no proper HTTP request.',
};

const REFUSALS: Record<string, Refusal> = {
  HPE_HEADER_OVERFLOW: {
    status: '431 Request Header Fields Too Large',
    code: 'PAYLOAD_TOO_LARGE',
    message: 'The headers are too large.',
  },
  ERR_HTTP_REQUEST_TIMEOUT: {
    status: '408 Request Timeout',
    code: 'BAD_USER_INPUT',
    message: 'The request took too long to arrive.',
  },
};
