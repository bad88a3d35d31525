import { AppError, type ErrorCode, toAppError } from '@taskmesh/contracts';
import { closePromptly, isLoopbackHost, type Log } from '@taskmesh/service';
import { fastify, type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { randomUUID } from 'node:crypto';
import { type IncomingMessage, METHODS } from 'node:http';
import type { Socket } from 'node:net';
import type { GatewayConfig } from '../config.ts';
import { awaitContinue, isTimeoutExempt, hasBody } from './bodies.ts';
import {
  clientTimeouts,
  currentResponse,
  disconnectSlowReaders,
  limitConnections,
  serveSequentially,
} from './client-connections.ts';
import { headerValues } from './client.ts';
import { asClientRequest, BODY_LIMIT_BYTES, clientRequests, type ClientRequestDeps } from './client-request.ts';
import { type HandleUnknownPath, rawError, sendUnknownPath, sendError } from './replies.ts';

const MAX_HEADER_BYTES = 16 * 1024;
/** Reading a header costs far more than its length suggests. */
const MAX_HEADERS = 100;
/** Longer than a load balancer keeps an idle connection, so that the balancer closes first. */
const KEEP_ALIVE_MS = 72_000;
/** Per network, in addition to the sockets that it may have. */
const MAX_PLAIN_CONNECTIONS = 1_000;
/** Time for busy clients to notice that they should open another connection. */
const LINGER_MS = 3_000;

export interface AppDeps extends ClientRequestDeps {
  log: Log;
  /** Upgrades that this does not accept are handled as ordinary requests (RFC 9110, 7.8). */
  isUpgrade: (request: IncomingMessage) => boolean;
  /** Serves a page to people who open an unknown path. Absent: everybody gets the error that programs get. */
  serveUnknownPath?: ((app: FastifyInstance) => HandleUnknownPath) | undefined;
}

/** An HTTP app without the API's routes. It provides the request ids, errors, limits and methods that all routes share. */
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
    // No id may be too long for its route: overlong ids get the same response as other unknown ids.
    routerOptions: { ignoreTrailingSlash: true, caseSensitive: true, maxParamLength: MAX_HEADER_BYTES },
    // Node's own response to a missing Host would have neither an id nor a body.
    http: {
      ...http,
      IncomingMessage: clientRequests(deps),
      maxHeaderSize: MAX_HEADER_BYTES,
      requireHostHeader: false,
      shouldUpgradeCallback: isUpgrade,
    },
    clientErrorHandler: sendBadRequest,
    // A path that cannot be decoded matches no route.
    frameworkErrors: (_error, request, reply) => {
      if (mayBegin(request, reply)) handleUnknownPath(request, reply);
    },
  });
  app.server.maxHeadersCount = MAX_HEADERS;
  serveSequentially(app.server);

  const maxPerNetwork = config.realtime.maxSocketsPerIp + MAX_PLAIN_CONNECTIONS;
  limitConnections(app.server, { maxPerNetwork, trustedProxies: config.trustedProxies });
  awaitContinue(app.server);
  disconnectSlowReaders(app);
  closePromptly(app, { lingerMs: config.production ? LINGER_MS : 0, mayTakeLong: isTimeoutExempt });
  for (const method of METHODS) {
    if (method !== 'CONNECT' && !app.supportedMethods.includes(method)) app.addHttpMethod(method);
  }

  const cors = createCors(config);
  const mayBegin = (request: FastifyRequest, reply: FastifyReply): boolean => {
    reply.header('x-request-id', request.id);
    cors(request, reply);
    const refusal = refusalOf(request.raw);
    if (refusal) sendError(reply, refusal);
    return !refusal;
  };
  app.addHook('onRequest', (request, reply, done) => {
    if (mayBegin(request, reply)) done();
  });
  leaveBodiesUnread(app);
  const handleUnknownPath: HandleUnknownPath = serveUnknownPath?.(app) ?? ((_request, reply) => sendUnknownPath(reply));
  app.setNotFoundHandler(handleUnknownPath);
  app.setErrorHandler((error, request, reply) => {
    const known = toAppError(error);
    if (known.httpStatus === 500) log.error({ err: error, requestId: request.id }, 'request failed');
    return sendError(reply, known);
  });
  return app;
}

/** Why this request must not reach a route. */
function refusalOf(request: IncomingMessage): AppError | undefined {
  // RFC 9112, 3.2: there is exactly one Host, which only HTTP/1.0 may omit.
  const hosts = headerValues(request, 'host').length;
  if (hosts > 1) return new AppError('BAD_USER_INPUT', 'There is more than one Host.');
  if (hosts === 0 && request.httpVersion !== '1.0') return new AppError('BAD_USER_INPUT', 'There is no Host.');
  // Node decodes only `chunked`, and passes on other encodings unchanged.
  const coding = request.headers['transfer-encoding']?.trim().toLowerCase() ?? 'chunked';
  if (coding === 'chunked') return undefined;
  return new AppError('UNSUPPORTED_MEDIA_TYPE', 'The transfer encoding must be chunked.');
}

/** Requests that Node's parser rejects never reach the app, so the response is written by hand. */
function sendBadRequest(error: Error & { code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || socket.destroyed) return;
  // In the middle of the response to an earlier request, this one would be taken for a part of it.
  if (isResponding(socket)) return void socket.destroy();
  if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT') {
    if (isTimeoutExempt(socket)) return;
    // No request has arrived; a client that is just sending one could take this response for its own.
    if (socket.bytesRead === 0) return void socket.destroy();
  }
  const [status, code, message] = REFUSALS[error.code ?? ''] ?? BAD_REQUEST;
  if (socket.writable) socket.write(rawError(new AppError(code, message), status));
  socket.destroySoon();
}

/** Whether a response is being sent that an error must not interrupt. While a request still arrives, the error may be its response. */
function isResponding(socket: Socket): boolean {
  const response = currentResponse(socket);
  return response?.writableFinished === false && (response.headersSent || response.req.complete);
}

type Refusal = [status: number, code: ErrorCode, message: string];

const BAD_REQUEST: Refusal = [400, 'BAD_USER_INPUT', 'This is not a valid HTTP request.'];

const REFUSALS: Record<string, Refusal> = {
  HPE_HEADER_OVERFLOW: [431, 'PAYLOAD_TOO_LARGE', 'The headers are too large or too many.'],
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'BAD_USER_INPUT', 'The request took too long to arrive.'],
};

const CORS_METHODS = 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS';
const EXPOSED = 'X-Request-Id, ETag, Link, Retry-After, WWW-Authenticate, Allow';
const PREFLIGHT_SECONDS = '600';

/**
 * CORS headers for pages of the allowed origins only; outside production, those of this machine are allowed, too (a front
 * end's development server). Tokens travel in a header, so credentials are not allowed.
 */
function createCors({ corsOrigins, production }: Pick<GatewayConfig, 'corsOrigins' | 'production'>) {
  const named = new Set(corsOrigins);
  const isAllowed = (origin: string) => named.has(origin) || (!production && isLoopbackOrigin(origin));
  return (request: FastifyRequest, reply: FastifyReply): void => {
    reply.header('vary', 'Origin');
    const { origin } = request.headers;
    if (origin === undefined || !isAllowed(origin)) return;
    reply.header('access-control-allow-origin', origin).header('access-control-expose-headers', EXPOSED);
    if (request.method !== 'OPTIONS' || request.headers['access-control-request-method'] === undefined) return;
    reply.header('access-control-allow-methods', CORS_METHODS).header('access-control-max-age', PREFLIGHT_SECONDS);
    const headers = request.headers['access-control-request-headers'];
    if (headers !== undefined) reply.header('access-control-allow-headers', headers);
  };
}

function isLoopbackOrigin(origin: string): boolean {
  const [, host] = /^https?:\/\/(.+)$/.exec(origin) ?? [];
  return host !== undefined && isLoopbackHost(host);
}

/** How much of a body a client may still send after its response, and for how long: enough for most to read the response. */
const MAX_UNREAD_BYTES = 16 * 1024 * 1024;
const MAX_UNREAD_MS = 5_000;
const CHECK_EVERY_MS = 50;

/**
 * Keeps Fastify from reading bodies: routes with a body read it after their own checks, others ignore it. Node discards the
 * unread rest when the response is sent, so that the connection can be used again; here only up to a limit.
 */
function leaveBodiesUnread(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', (_request, _payload, done) => done(null));
  app.addHook('onRequest', trimHeaders);
  app.server.on('request', (request, response) => {
    const leave = () => asClientRequest(request).leave();
    if (response.writableEnded) leave();
    else response.once('prefinish', leave);
    if (hasBody(request)) response.once('finish', () => request.complete || limitUnreadBody(request));
  });
}

function limitUnreadBody(request: IncomingMessage): void {
  const { socket } = request;
  const [endMs, maxBytesRead] = [performance.now() + MAX_UNREAD_MS, socket.bytesRead + MAX_UNREAD_BYTES];
  const timer = setInterval(() => {
    const isWithin = performance.now() < endMs && socket.bytesRead <= maxBytesRead;
    if (!request.complete && !socket.destroyed && isWithin) return;
    clearInterval(timer);
    if (!request.complete) socket.destroy();
  }, CHECK_EVERY_MS).unref();
}

/** Longer `Accept` headers take milliseconds to parse. */
const MAX_ACCEPT_LENGTH = 1_024;

function trimHeaders({ raw: { headers } }: FastifyRequest, _reply: unknown, done: () => void): void {
  // Fastify would refuse a malformed content type with an error of its own, before any of our checks.
  if (headers['content-type'] !== undefined) headers['content-type'] = undefined;
  for (const name of ['accept', 'accept-encoding'] as const) {
    const given = headers[name];
    if (given && given.length > MAX_ACCEPT_LENGTH) headers[name] = String(given).slice(0, MAX_ACCEPT_LENGTH);
  }
  done();
}
