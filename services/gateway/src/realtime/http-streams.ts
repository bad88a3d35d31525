import { AppError, rateLimited, unauthenticated } from '@taskmesh/errors';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { GraphQLError } from 'graphql';
import { readGraphQLRequest } from '../graphql/request.ts';
import type { StreamTransport } from '../graphql/routes.ts';
import type { TrustedDocuments } from '../graphql/trusted-documents.ts';
import { authorizationOf, type GatewayParts } from '../parts.ts';
import { admitted } from './admitted.ts';
import { multipart } from './multipart.ts';
import type { SessionWatch } from './session-watch.ts';
import type { SocketLimits } from './socket-limits.ts';
import { sse } from './sse.ts';
import type { StreamFormat } from './stream-format.ts';
import type { StreamSink, Subscriptions } from './subscriptions.ts';

const FORMATS: StreamFormat[] = [sse, multipart];
const HEARTBEAT_MS = 12_000;
const MAX_WAITING_BYTES = 1024 * 1024;
const LOW_WATER_BYTES = 64 * 1024;

export interface HttpStreamsDeps {
  parts: GatewayParts;
  subscriptions: Subscriptions;
  watch: SessionWatch;
  limits: SocketLimits;
  trusted: TrustedDocuments;
}

export type HttpStreams = StreamTransport & {
  /** Tears every stream, so that clients come back to another gateway. */
  stop(): void;
};

/** `Subscription.taskChanges` over SSE (https://github.com/enisdenjo/graphql-sse) and multipart (subscriptionSpec=1.0). */
export function createHttpStreams(deps: HttpStreamsDeps): HttpStreams {
  const open = new Set<() => void>();
  return {
    claims: ({ headers, method }) => method !== 'HEAD' && formatFor(headers.accept) !== undefined,
    handle: (request, reply) => handle(deps, open, request, reply),
    stop() {
      for (const tear of [...open]) tear();
    },
  };
}

function formatFor(accept: string | undefined): StreamFormat | undefined {
  return accept === undefined ? undefined : FORMATS.find((format) => format.accepts(accept));
}

async function handle(
  deps: HttpStreamsDeps,
  open: Set<() => void>,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<unknown> {
  const { parts, limits, watch, subscriptions } = deps;
  const format = formatFor(request.headers.accept) ?? sse;
  const caller = await parts.authenticate(authorizationOf(request.raw));
  if (caller.kind !== 'user') {
    reply.header('www-authenticate', 'Bearer');
    throw unauthenticated();
  }
  const { query, operationName, variables } = await readOperation(request, deps.trusted);
  const operation = admitted(parts, query, operationName);
  if (Array.isArray(operation)) throw invalid(operation);
  const call = parts.requestCall(request, caller.identity);
  if (operation.operation.operation !== 'subscription') {
    const result = await parts.executor.run(operation, variables, call);
    return writeOnce(reply, format, JSON.stringify(result));
  }
  const release = limits.takeUser(caller.identity.userId);
  if (!release) throw rateLimited(1, 'Too many streams.');

  const writer = new StreamWriter(reply, format);
  const lastEventId = request.headers['last-event-id'];
  let stop = () => {};
  const unwatch = watch(caller.claims, () => {
    stop();
    writer.fail(new GraphQLError('The session has ended.', { extensions: { code: 'UNAUTHENTICATED' } }));
  });
  const tear = () => writer.tear();
  const finish = () => {
    stop();
    release();
    unwatch();
    open.delete(tear);
  };
  try {
    stop = await subscriptions.subscribe(
      {
        operation,
        variables,
        call,
        ...(typeof lastEventId === 'string' && lastEventId !== '' && { after: lastEventId }),
      },
      writer,
    );
  } catch (error) {
    finish();
    if (!(error instanceof GraphQLError)) throw error;
    // What is wrong with the request is said in its status; what is wrong with the position is the stream's end.
    if (error.extensions['code'] === 'SERVICE_UNAVAILABLE')
      throw new AppError('SERVICE_UNAVAILABLE', error.message, { retryAfterSeconds: 1 });
    if (error.extensions['code'] !== 'CURSOR_EXPIRED') throw invalid([error]);
    writer.open();
    writer.fail(error);
    return reply;
  }
  open.add(tear);
  writer.onClose(finish);
  writer.open();
  return reply;
}

async function readOperation(request: FastifyRequest, trusted: TrustedDocuments) {
  const { body, search } = await readGraphQLRequest(request, trusted);
  const params = new URLSearchParams(search);
  const source = (body ?? {
    query: params.get('query'),
    operationName: params.get('operationName') ?? undefined,
    variables: parsedVariables(params.get('variables')),
  }) as { query?: unknown; operationName?: unknown; variables?: unknown };
  const { query, operationName, variables } = source;
  if (typeof query !== 'string') throw new AppError('BAD_USER_INPUT', 'The request has no query.');
  if (variables !== undefined && variables !== null && (typeof variables !== 'object' || Array.isArray(variables)))
    throw new AppError('BAD_USER_INPUT', 'The variables must be an object.');
  return {
    query,
    operationName: typeof operationName === 'string' ? operationName : undefined,
    variables: (variables ?? {}) as Record<string, unknown>, // an object, as was just checked
  };
}

function parsedVariables(text: string | null): unknown {
  try {
    return text === null ? undefined : JSON.parse(text);
  } catch {
    throw new AppError('BAD_USER_INPUT', 'The variables are not JSON.');
  }
}

/** A document that cannot run is a request that is wrong, whatever the answer would have been. */
function invalid(errors: GraphQLError[]): GraphQLError {
  const [first] = errors;
  return new GraphQLError(first?.message ?? 'Bad request.', {
    extensions: { code: 'GRAPHQL_VALIDATION_FAILED', ...first?.extensions, http: { status: 400 } },
  });
}

function writeOnce(reply: FastifyReply, format: StreamFormat, json: string): FastifyReply {
  const writer = new StreamWriter(reply, format);
  writer.open();
  writer.complete(json);
  return reply;
}

/** Writes a stream's frames into the response, past Fastify: it stays open for hours. */
class StreamWriter implements StreamSink {
  readonly #reply: FastifyReply;
  readonly #format: StreamFormat;
  #heartbeat: NodeJS.Timeout | undefined;
  /** What came before the stream was opened. */
  #early = '';
  #isOpen = false;
  /** The stream has ended before it was opened. */
  #isOver = false;

  constructor(reply: FastifyReply, format: StreamFormat) {
    this.#reply = reply;
    this.#format = format;
  }

  open(): void {
    const { raw } = this.#reply;
    this.#reply.hijack();
    for (const [name, value] of Object.entries(this.#reply.getHeaders()))
      if (value !== undefined) raw.setHeader(name, value);
    raw.writeHead(200, {
      'content-type': this.#format.contentType,
      'cache-control': 'no-store',
      'x-accel-buffering': 'no',
    });
    this.#isOpen = true;
    const opening = this.#format.opening + this.#early;
    this.#early = '';
    if (this.#isOver) return void raw.end(opening);
    raw.write(opening);
    this.#heartbeat = setInterval(() => raw.write(this.#format.heartbeat), HEARTBEAT_MS);
    raw.once('close', () => clearInterval(this.#heartbeat));
    raw.on('error', () => raw.destroy());
  }

  onClose(listener: () => void): void {
    this.#reply.raw.once('close', listener);
  }

  next(json: string, { cursor }: { cursor: string }): boolean {
    if (this.#reply.raw.writableLength > MAX_WAITING_BYTES) return false;
    this.#write(this.#format.next(json, cursor));
    return true;
  }

  end(end: Parameters<StreamSink['end']>[0]): void {
    if (end.kind === 'failed') this.fail(end.error);
    else this.tear();
  }

  async drained(): Promise<void> {
    const { raw } = this.#reply;
    while (raw.writableLength > LOW_WATER_BYTES && !raw.destroyed)
      await new Promise((resolve) => setTimeout(resolve, 20));
  }

  complete(json: string): void {
    this.#reply.raw.end(this.#format.next(json, '') + this.#format.ending);
  }

  fail(error: GraphQLError): void {
    if (this.#isOpen) return void this.#reply.raw.end(this.#format.failure([error]));
    this.#early += this.#format.failure([error]);
    this.#isOver = true;
  }

  /** No proper end: the client takes it for a broken connection and comes back. */
  tear(): void {
    this.#reply.raw.destroy();
  }

  #write(text: string): void {
    if (this.#isOpen) this.#reply.raw.write(text);
    else this.#early += text;
  }
}
