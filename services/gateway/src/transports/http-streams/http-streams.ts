import { rateLimited, unauthenticated, unavailable } from '@taskmesh/contracts';
import type { FastifyReply } from 'fastify';
import { GraphQLError } from 'graphql';
import { setTimeout as delay } from 'node:timers/promises';
import { isSubscription } from '../../graphql/admission.ts';
import type { AdmittedOperation } from '../../supergraph/operation.ts';
import type { StreamExchange, StreamTransport } from '../../graphql/routes.ts';
import type { CallerClaims } from '../../context.ts';
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
  return {
    async run(admitted, { protocol, claims, ...exchange }) {
      if (isStopping) throw unavailable('The gateway stops; another one takes over.');
      if (!claims) throw unauthenticated();
      const kind = kinds[protocol];
      if (isSubscription(admitted)) return subscribe({ ...deps, open }, admitted, { ...exchange, kind, claims });
      const result = await deps.context.graph.run(admitted, exchange.caller);
      return sendResult(exchange.reply, kind, JSON.stringify(result));
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

type Exchange = Omit<StreamExchange, 'protocol' | 'claims'> & { kind: StreamKind; claims: CallerClaims };

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
  subscription: AdmittedOperation,
  { request, reply, kind, caller: call, claims }: Exchange,
): Promise<unknown> {
  const { limitAge, watch, subscriptions, metrics, open, reserveIp } = deps;
  const { protocol } = kind.format;
  const { userId } = claims;
  const releaseIp = reserveIp(call.ip);
  const release = releaseIp && (await reservePlace(deps, userId));
  if (!release) {
    releaseIp?.();
    throw rateLimited(1, 'Too many streams of this account or network.');
  }

  const writer = new StreamWriter(reply, kind);
  const lastEventId = request.headers['last-event-id'];
  let stream: Subscription | undefined;
  let reportEnd: (reason: EndReason) => void = () => {};
  const unwatch = watch(claims, () => {
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
        call,
        ...(typeof lastEventId === 'string' && lastEventId !== '' && { after: lastEventId }),
      },
      writer,
    );
  } catch (error) {
    const hasExpired = error instanceof GraphQLError && error.extensions['code'] === 'CURSOR_EXPIRED';
    if (hasExpired) writer.fail(error);
    finish();
    // An expired cursor is reported inside the stream, which then ends; anything else gets a status.
    if (!hasExpired) throw error;
    writer.open();
    return reply;
  }
  asClientRequest(request.raw).leave();
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

/** A stream of a single result is sent as an ordinary response. */
async function sendResult(reply: FastifyReply, { format }: StreamKind, json: string): Promise<FastifyReply> {
  const body = await encodeText(format.opening + format.next(json, '') + format.ending);
  return reply.headers(headersOf(format)).send(body);
}
