import { AppError, rateLimited, unauthenticated, unavailable } from '@taskmesh/errors';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { GraphQLError } from 'graphql';
import { setTimeout as delay } from 'node:timers/promises';
import { readRequest } from '../../graphql/read-request.ts';
import type { StreamTransport } from '../../graphql/routes.ts';
import { callerOf, type GatewayContext } from '../../context.ts';
import type { LimitAge } from '../connection-age.ts';
import type { Heartbeats } from '../heartbeats.ts';
import { createEventChunks } from './event-chunks.ts';
import { multipart } from './multipart.ts';
import type { EndReason, TransportMetrics } from '../metrics.ts';
import type { QueuedReader } from '../sockets/send-buffer-budget.ts';
import type { SessionWatch } from '../sockets/session-watch.ts';
import type { SocketLimits } from '../sockets/socket-limits.ts';
import { sse } from './sse.ts';
import { StreamWriter, type StreamKind } from './stream-writer.ts';
import type { Subscription, Subscriptions } from '../../subscriptions/subscriptions.ts';

export interface HttpStreamsDeps {
  context: GatewayContext;
  subscriptions: Subscriptions;
  watch: SessionWatch;
  limits: SocketLimits;
  heartbeats: Heartbeats;
  limitAge: LimitAge;
  metrics: TransportMetrics;
  random: () => number;
}

export type HttpStreams = StreamTransport & {
  /** Breaks off every stream at a random time within `spreadMs`, so that clients do not all reconnect at once. */
  stop(spreadMs: number): Promise<void>;
  waitingBytes(): number;
  readers(): QueuedReader[];
};

/** `Subscription.taskChanges` over SSE (https://github.com/enisdenjo/graphql-sse) and multipart (subscriptionSpec=1.0). */
export function createHttpStreams(deps: HttpStreamsDeps): HttpStreams {
  const open = new Set<StreamWriter>();
  const { heartbeats } = deps;
  const ofSse: StreamKind = { format: sse, chunkOf: createEventChunks(sse), heartbeats };
  const kinds: StreamKind[] = [ofSse, { format: multipart, chunkOf: createEventChunks(multipart), heartbeats }];
  const kindFor = (accept: string | undefined) =>
    accept === undefined ? undefined : kinds.find(({ format }) => format.accepts(accept));
  let isStopping = false;
  return {
    claims: ({ headers, method }) => method !== 'HEAD' && kindFor(headers.accept) !== undefined,
    handle(request, reply) {
      if (isStopping) throw unavailable('The gateway stops; another one takes over.');
      return handle({ ...deps, open, kind: kindFor(request.headers.accept) ?? ofSse }, request, reply);
    },
    async stop(spreadMs) {
      isStopping = true;
      const tearing = [...open].map(async (writer) => {
        await delay(open.size > 1 ? deps.random() * spreadMs : 0);
        writer.end({ kind: 'stopped' });
      });
      await Promise.all(tearing);
      for (const writer of open) writer.end({ kind: 'stopped' }); // streams that were still starting
    },
    waitingBytes() {
      let sum = 0;
      for (const writer of open) sum += writer.waitingBytes;
      return sum;
    },
    readers: () =>
      [...open].map((writer) => ({ waitingBytes: writer.waitingBytes, cut: () => writer.end({ kind: 'slow' }) })),
  };
}

async function handle(
  deps: HttpStreamsDeps & { open: Set<StreamWriter>; kind: StreamKind },
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<unknown> {
  const { context, limits, limitAge, watch, subscriptions, metrics, open, kind } = deps;
  const { protocol } = kind.format;
  const caller = await callerOf(context, request.raw);
  if (caller.kind !== 'user') {
    reply.header('www-authenticate', 'Bearer');
    throw unauthenticated();
  }
  const call = context.requestCall(request, caller.identity);
  const carrier = { isGet: request.method !== 'POST', canStream: true, caller: call };
  const { operation, variables } = await context.admit(await readRequest(request.raw), carrier);
  if (operation.operation.operation !== 'subscription') {
    const result = await context.executor.run(operation, variables, call);
    return writeOnce(reply, kind, JSON.stringify(result));
  }
  const release = limits.takeUser(caller.identity.userId);
  if (!release) throw rateLimited(1, 'Too many streams.');

  const writer = new StreamWriter(reply, kind);
  const lastEventId = request.headers['last-event-id'];
  let stream: Subscription | undefined;
  let reportEnd: (reason: EndReason) => void = () => {};
  const unwatch = watch(caller.claims, () => {
    stream?.stop();
    writer.fail(
      new GraphQLError('The session has ended.', { extensions: { code: 'UNAUTHENTICATED' } }),
      'session_ended',
    );
  });
  const finish = () => {
    stream?.stop();
    release();
    unwatch();
    open.delete(writer);
    reportEnd(writer.endReason);
  };
  open.add(writer);
  try {
    stream = await subscriptions.subscribe(
      {
        protocol,
        operation,
        variables,
        call,
        ...(typeof lastEventId === 'string' && lastEventId !== '' && { after: lastEventId }),
      },
      writer,
    );
  } catch (error) {
    if (error instanceof GraphQLError && error.extensions['code'] === 'CURSOR_EXPIRED') writer.fail(error);
    finish();
    if (!(error instanceof GraphQLError)) throw error;
    // A faulty request is refused with a status; an expired cursor is reported inside the stream, which then ends.
    if (error.extensions['code'] === 'SERVICE_UNAVAILABLE')
      throw new AppError('SERVICE_UNAVAILABLE', error.message, { retryAfterSeconds: 1 });
    if (error.extensions['code'] !== 'CURSOR_EXPIRED') throw invalid([error]);
    writer.open();
    return reply;
  }
  reportEnd = metrics.connected(protocol);
  writer.open();
  writer.onClose(finish);
  const { canResume } = stream;
  writer.onClose(
    limitAge(
      () => writer.abort('max_age'),
      () => kind.format.beginning !== undefined || canResume(),
    ),
  );
  return reply;
}

/** A document that cannot run is a bad request (400), whatever the format of the answer. */
function invalid(errors: GraphQLError[]): GraphQLError {
  const [first] = errors;
  return new GraphQLError(first?.message ?? 'Bad request.', {
    extensions: { code: 'GRAPHQL_VALIDATION_FAILED', ...first?.extensions, http: { status: 400 } },
  });
}

function writeOnce(reply: FastifyReply, kind: StreamKind, json: string): FastifyReply {
  const writer = new StreamWriter(reply, kind);
  writer.complete(json);
  writer.open();
  return reply;
}
