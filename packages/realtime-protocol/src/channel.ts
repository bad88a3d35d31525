import {
  createChannelReader,
  type ChannelReader,
  type ChannelReaderEnd,
  type ChannelReaderOptions,
} from './channel-reader.ts';
import type { Binding, JoinRequest } from './join.ts';
import type { ChannelAddress } from './messages.ts';
import type { FailureReason, Metrics, RealtimeUser } from './options.ts';
import { SERVICE_RESTART, WS_CLOSE, type EndReason } from './socket.ts';

/** Bindings of up to this length, as JSON, are compiled at once, which takes less time than the rest of a join. */
const MAX_QUICK_CHARACTERS = 1_000;
/** How long a channel that was joined with a just-expired token waits for a new token. */
const MAX_TOKEN_WAIT_MS = 10_000;

/**
 * joining: the join has no reply yet. pending: joined with a just-expired token, and sends nothing. live: sends one owner's
 * changes. closed: final; joining the topic again creates another channel.
 */
type State = 'joining' | 'pending' | 'live' | 'closed';

/** One join of a topic. Lasts until the client leaves or rejoins, or the channel ends. */
export interface Channel extends ChannelAddress {
  readonly wants: JoinRequest['wants'];
  /** Whether the client has a cursor, with which it misses nothing when it rejoins. */
  canResume(): boolean;
  isJoined(): boolean;
  /** @throws JoinRefused */
  join(): Promise<void>;
  /** Accepts another token. From then on, the channel belongs to that token's user. */
  updateToken(token: string): Promise<void>;
  /** Sends the cursor of the last change sent, if this is still pending. */
  flushCursor(): void;
  /** Takes effect at once: nothing more is written, and a change of the user in progress is abandoned. */
  close(): void;
}

/** Resources that the channels of one socket share. */
export interface ChannelsOfSocket {
  /**
   * Reserves the channel's part of the user's limits (the bindings, and one connection per socket) and watches the session.
   * Returns a function that releases both, or the name of the exceeded limit.
   */
  reserve(user: RealtimeUser, bindings: readonly Binding[]): (() => void) | 'connections' | 'bindings';
  /** Sends the reason on every channel, then closes the socket. Clients reconnect by themselves. */
  closeAll(reason: EndReason, close: [code: number, why: string]): void;
}

export interface ChannelDeps extends Pick<ChannelReaderOptions, 'subscribe' | 'now' | 'messages' | 'viewOf'> {
  /** The user of a token; undefined when it is not valid. */
  verify(token: string): Promise<RealtimeUser | undefined>;
  /** Runs the compilation of many or long filters when it is the client's turn. */
  compile<Result>(work: () => Result): Promise<Result>;
  metrics: Metrics;
  channels: ChannelsOfSocket;
  onClosed(channel: Channel): void;
}

interface Refusal {
  failure: FailureReason;
  reason: string;
}

const NOT_VALID: Refusal = { failure: 'refused', reason: 'InvalidJWTToken: The token provided is not valid' };
/** Why the user of a valid token cannot have a channel. */
export const OBSTACLES = {
  connections: { failure: 'refused', reason: 'ConnectionRateLimitReached: Too many connections of this user' },
  bindings: { failure: 'subscription_limit', reason: 'FilterLimitReached: Too many bindings or filters of this user' },
  unavailable: { failure: 'unavailable', reason: 'UnableToSubscribe: The service is not available right now' },
} as const satisfies Record<string, Refusal>;

export function createChannel(request: JoinRequest, deps: ChannelDeps): Channel {
  const { topic, joinRef, wants } = request;
  const { messages, metrics, channels } = deps;
  let state: State = 'joining';
  let bindings: Binding[] = [];
  /** The last valid token. */
  let token = request.token;
  let reader: ChannelReader | undefined;
  /** Releases the token's resources (session watch, user's limits) and stops the wait for a new token. */
  let release = () => {};
  let reportUnsubscribed = () => {};
  let lastStep: Promise<unknown> = Promise.resolve();

  const isClosed = () => state === 'closed';

  /**
   * Runs changes of the token one at a time, in the order of their arrival. `close` does not wait for its turn, so each step
   * checks `isClosed` after every await.
   */
  const runInOrder = (step: () => Promise<void>): Promise<void> => {
    const mine = lastStep.then(() => (isClosed() ? undefined : step()));
    lastStep = mine.catch(() => undefined);
    return mine;
  };

  const close = () => {
    if (isClosed()) return;
    state = 'closed';
    reader?.stop();
    release();
    reportUnsubscribed();
    deps.onClosed(channel);
  };

  const refuse = ({ failure, reason }: Refusal) => {
    close();
    metrics.failed(failure);
    messages.reply(request, 'error', { reason });
  };

  const fail = ({ failure, reason }: Refusal) => {
    close();
    metrics.failed(failure);
    messages.system(channel, { extension: 'system', status: 'error', message: reason });
    messages.failChannel(channel);
  };

  /** The user of a token; undefined if the token is invalid. `isInGracePeriod`: the token has only just expired. */
  const userOf = async (value: string): Promise<{ user: RealtimeUser; isInGracePeriod: boolean } | undefined> => {
    const user = await deps.verify(value);
    return user && { user, isInGracePeriod: user.expiresAt * 1000 <= deps.now() };
  };

  const onReadingEnd = (reason: ChannelReaderEnd) => {
    if (reason === 'slow') return channels.closeAll('slow', [WS_CLOSE.tryLater, 'Too slow']);
    if (reason === 'stopped') return channels.closeAll('restart', SERVICE_RESTART);
    if (state === 'joining') return refuse(OBSTACLES.unavailable);
    fail({ failure: 'cursor_expired', reason: 'CURSOR_EXPIRED: the data were restored; read them again' });
  };

  const waitForFreshToken = () => {
    const timer = setTimeout(() => {
      close();
      messages.failChannel(channel, { code: WS_CLOSE.unauthorized, reason: 'token expired' });
    }, MAX_TOKEN_WAIT_MS);
    const releaseUser = release;
    release = () => {
      clearTimeout(timer);
      releaseUser();
    };
  };

  /** Starts reading this user's changes, which are buffered until the reader is opened. Keeps the current reader for the same user. */
  const readFor = async (userId: string, since?: string): Promise<'unavailable' | undefined> => {
    if (reader?.owner === userId) return undefined;
    // Nothing of the previous user is delivered from here on.
    reader?.stop();
    const { wantsCursor } = request; // not the whole request: the reader lives as long as the channel
    reader = createChannelReader({
      topic,
      joinRef,
      bindings,
      wantsCursor,
      ...deps,
      owner: userId,
      onEnd: onReadingEnd,
    });
    return reader.begin(since).then(
      () => undefined,
      () => 'unavailable' as const,
    );
  };

  /** Transfers the channel to this user. */
  const transferTo = async (user: RealtimeUser, since?: string): Promise<keyof typeof OBSTACLES | undefined> => {
    // Release first, so that a user at the limit can reuse the channel's own reservation.
    release();
    release = () => {};
    const reservation = channels.reserve(user, bindings);
    if (typeof reservation === 'string') return reservation;
    release = reservation;
    return readFor(user.id, since);
  };

  /** Sends a notice if the cursor was lost, then the changes that arrived during the transfer. */
  const open = () => {
    if (reader?.hasLostPosition()) {
      metrics.failed('cursor_expired');
      messages.system(channel, { extension: 'resume', status: 'error', message: 'CURSOR_EXPIRED' });
    }
    reader?.open();
  };

  const acceptJoin = (next: 'pending' | 'live') => {
    state = next;
    reportUnsubscribed = metrics.subscribed();
    const entries = request.requestedBindings.map((entry, index) => ({ ...entry, id: bindings[index]?.id }));
    request.requestedBindings = [];
    messages.reply(request, 'ok', { postgres_changes: entries });
    if (bindings.length > 0)
      messages.system(channel, { extension: 'postgres_changes', status: 'ok', message: 'Subscribed to PostgreSQL' });
    if (wants.presence) messages.send({ joinRef, ref: null, topic, event: 'presence_state', payload: {} });
    if (state === 'live') open();
  };

  const channel: Channel = {
    topic,
    joinRef,
    wants,
    canResume: () => request.wantsCursor && (request.since !== undefined || state !== 'pending'),
    isJoined: () => state === 'pending' || state === 'live',
    join: () =>
      runInOrder(async () => {
        const found = await userOf(token);
        if (isClosed()) return;
        if (!found) return refuse(NOT_VALID);
        const { user, isInGracePeriod } = found;
        try {
          const read = () => (isClosed() ? [] : request.readBindings());
          const { length } = JSON.stringify(request.requestedBindings);
          bindings = length > MAX_QUICK_CHARACTERS ? await deps.compile(read) : read();
        } catch (error) {
          if (isClosed()) return;
          close();
          throw error;
        }
        if (isClosed()) return;
        // Reads from the join's position even if the new token arrives later. The expired token needs no watch.
        const holder = isInGracePeriod ? { ...user, watch: () => () => {} } : user;
        const obstacle = await transferTo(holder, request.since);
        if (isClosed()) return;
        if (!obstacle && isInGracePeriod) waitForFreshToken();
        if (!obstacle) return acceptJoin(isInGracePeriod ? 'pending' : 'live');
        refuse(OBSTACLES[obstacle]);
        if (obstacle === 'connections')
          channels.closeAll('connection_limit', [WS_CLOSE.tryLater, 'Too many connections']);
      }),
    updateToken: (fresh) =>
      runInOrder(async () => {
        if (fresh === token) return;
        const found = await userOf(fresh);
        if (isClosed()) return;
        if (!found)
          return channels.closeAll('unauthorized', [WS_CLOSE.unauthorized, 'The token provided is not valid']);
        if (found.isInGracePeriod) return; // a just-expired token changes nothing: the current one is being watched
        token = fresh;
        state = 'live';
        const obstacle = await transferTo(found.user);
        if (isClosed()) return;
        if (!obstacle) return open();
        if (obstacle === 'connections')
          return channels.closeAll('connection_limit', [WS_CLOSE.tryLater, 'Too many connections']);
        if (obstacle === 'bindings') return fail(OBSTACLES.bindings);
        channels.closeAll('error', [WS_CLOSE.tryLater, 'The service is not available right now']);
      }),
    flushCursor: () => reader?.flushCursor(),
    close,
  };
  return channel;
}
