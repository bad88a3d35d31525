import { AppError, rateLimited, unauthenticated, unavailable } from '@taskmesh/contracts';
import type { FastifyReply } from 'fastify';
import { GraphQLError } from 'graphql';
import { setTimeout as delay } from 'node:timers/promises';
import { isSubscription } from '../../graphql/admission.ts';
import type { AdmittedOperation } from '../../supergraph/operation.ts';
import { readRequest, type StreamExchange, type StreamTransport } from '../../graphql/routes.ts';
import { callerOf } from '../../context.ts';
import type { ReserveSlot } from '../../http/client-connections.ts';
import { asClientRequest } from '../../http/client-request.ts';
import { encodeText } from '../../http/negotiation.ts';
import { setResponseEnd } from '../../http/unread-responses.ts';
import { createEventChunks, multipart, sse, type StreamFormat } from './formats.ts';
import type { EndReason } from '../../realtime-metrics.ts';
import type { TransportDeps } from '../transport.ts';
import { headersOf, StreamWriter, type StreamKind } from './stream-writer.ts';
import type { Subscription, Subscriptions } from '../../subscriptions/subscriptions.ts';

export interface HttpStreamsDeps extends TransportDeps {
  /** Reserves one of an address's streams, with however many accounts and behind any proxy. */
  reserveIp: ReserveSlot;
  subscriptions: Subscriptions;
  random: () => number;
}

export type HttpStreams = StreamTransport & {
  /** Aborts every stream at a random time within `spreadMs`, so that clients do not all reconnect at once. */
  stop(spreadMs: number): Promise<void>;
};

/** `Subscription.taskChanges` over SSE (https://github.com/enisdenjo/graphql-sse) and multipart (subscriptionSpec=1.0). */
export function createHttpStreams(deps: HttpStreamsDeps): HttpStreams {
  const open = new Set<StreamWriter>();
  const { heartbeats } = deps;
  const kindOf = (format: StreamFormat): StreamKind => ({ format, chunkOf: createEventChunks(format), heartbeats });
  const kinds = { sse: kindOf(sse), multipart: kindOf(multipart) };
  let isStopping = false;
  const begin = ({ protocol, ...exchange }: StreamExchange): Exchange => {
    if (isStopping) throw unavailable('The gateway stops; another one takes over.');
    return { ...exchange, kind: kinds[protocol] };
  };
  return {
    handle: async (exchange) => handle({ ...deps, open }, begin(exchange)),
    async subscribe(subscription, given) {
      const exchange = begin(given);
      return subscribe({ ...deps, open }, exchange, { user: await userOf(deps, exchange), subscription });
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
  };
}

type Deps = HttpStreamsDeps & { open: Set<StreamWriter> };

type Exchange = Omit<StreamExchange, 'protocol'> & { kind: StreamKind };

async function userOf({ context }: Pick<Deps, 'context'>, { request, reply }: Exchange) {
  const caller = await callerOf(context, request.raw);
  if (caller.kind === 'user') return { ...caller, call: context.requestCall(request, caller.identity) };
  reply.header('www-authenticate', 'Bearer');
  throw unauthenticated();
}

async function handle(deps: Deps, exchange: Exchange): Promise<unknown> {
  const { context } = deps;
  const { request, reply, kind } = exchange;
  const user = await userOf(deps, exchange);
  const { call } = user;
  const carrier = { isGet: request.method !== 'POST', canStream: true, caller: call };
  const sent = await readRequest(request.raw, context);
  const admitted = await context.admission.admit(sent, carrier);
  if (isSubscription(admitted)) return subscribe(deps, exchange, { user, subscription: admitted });
  const result = await context.graph.run(admitted, call);
  return sendResult(reply, kind, JSON.stringify(result));
}

/** From this age on, a stream gives way to another of its user: a client that left without a trace would keep its place. */
const GIVES_WAY_MS = 60_000;

async function reservePlace({ reserveUser, open }: Deps, userId: string) {
  const release = reserveUser(userId);
  const oldest = release ? undefined : [...open].find((each) => each.givesWayTo(userId));
  if (!oldest) return release;
  const closed = new Promise<void>((resolve) => oldest.onClose(resolve));
  oldest.givesWayTo = () => false; // nor twice, to requests that arrive together
  oldest.abort('restart');
  await closed;
  return reserveUser(userId);
}

async function subscribe(
  deps: Deps,
  { request, reply, kind }: Exchange,
  { user, subscription }: { user: Awaited<ReturnType<typeof userOf>>; subscription: AdmittedOperation },
): Promise<unknown> {
  const { limitAge, watch, subscriptions, metrics, open, reserveIp } = deps;
  const { protocol } = kind.format;
  const { userId } = user.identity;
  const releaseIp = reserveIp(user.call.ip);
  const release = releaseIp && (await reservePlace(deps, userId));
  if (!release) {
    releaseIp?.();
    throw rateLimited(1, 'Too many streams of this account or network.');
  }

  const writer = new StreamWriter(reply, kind);
  const lastEventId = request.headers['last-event-id'];
  let stream: Subscription | undefined;
  let reportEnd: (reason: EndReason) => void = () => {};
  const unwatch = watch(user.claims, () => {
    stream?.stop();
    writer.fail(
      new GraphQLError('The session has ended.', { extensions: { code: 'UNAUTHENTICATED' } }),
      'session_ended',
    );
  });
  const finish = () => {
    stream?.stop();
    release();
    releaseIp();
    unwatch();
    open.delete(writer);
    reportEnd(writer.endReason);
  };
  open.add(writer);
  setResponseEnd(reply.raw, () => writer.end({ kind: 'slow' }));
  try {
    stream = await subscriptions.subscribe(
      {
        protocol,
        ...subscription,
        call: user.call,
        ...(typeof lastEventId === 'string' && lastEventId !== '' && { after: lastEventId }),
      },
      writer,
    );
  } catch (error) {
    if (error instanceof GraphQLError && error.extensions['code'] === 'CURSOR_EXPIRED') writer.fail(error);
    finish();
    if (!(error instanceof GraphQLError)) throw error;
    // An invalid request is refused with a status; an expired cursor is reported inside the stream, which then ends.
    if (error.extensions['code'] === 'SERVICE_UNAVAILABLE')
      throw new AppError('SERVICE_UNAVAILABLE', error.message, { retryAfterSeconds: 1 });
    if (error.extensions['code'] === 'RATE_LIMITED') throw rateLimited(1, error.message);
    if (error.extensions['code'] !== 'CURSOR_EXPIRED') throw invalid([error]);
    writer.open();
    return reply;
  }
  asClientRequest(request.raw).release();
  reportEnd = metrics.connected(protocol);
  writer.beatWith(stream.position);
  writer.open();
  writer.onClose(finish);
  const { canResume } = stream;
  // An EventSource always sends GET. Other clients may ignore the ids of events.
  const usesEventIds = kind.format.position !== undefined && (request.method === 'GET' || lastEventId !== undefined);
  const mayReconnect = () => usesEventIds || canResume();
  const ripeMs = performance.now() + GIVES_WAY_MS;
  writer.givesWayTo = (other) => other === userId && performance.now() >= ripeMs && mayReconnect();
  writer.onClose(limitAge(() => writer.abort('max_age'), mayReconnect));
  return reply;
}

/** A document that cannot run is a bad request (400), in every format of the response. */
function invalid(errors: GraphQLError[]): GraphQLError {
  const [first] = errors;
  return new GraphQLError(first?.message ?? 'Bad request.', {
    extensions: { code: 'GRAPHQL_VALIDATION_FAILED', ...first?.extensions, http: { status: 400 } },
  });
}

/** A stream of a single result is sent as an ordinary response. */
async function sendResult(reply: FastifyReply, { format }: StreamKind, json: string): Promise<FastifyReply> {
  const body = await encodeText(format.opening + format.next(json, '') + format.ending);
  return reply.headers(headersOf(format)).send(body);
}
