import { EXPIRED_TOKEN_GRACE_S } from '@taskmesh/identity';
import type { Caller, GatewayContext } from '../../context.ts';
import type { Feed } from '../../feed/feed.ts';
import type { FailureReason } from '../../subscriptions/metrics.ts';
import type { EndReason, TransportMetrics } from '../metrics.ts';
import { WS_CLOSE } from '../sockets/socket.ts';
import type { Binding } from './bindings.ts';
import type { JoinRequest } from './join.ts';
import { createReading, type Reading, type ReadingEnd } from './reading.ts';
import type { ChannelAddress, Wire } from './wire.ts';

/** How long a channel waits whose token had just run out when it was joined. */
const FRESH_TOKEN_WITHIN_MS = 10_000;

/**
 * joining: not answered yet. pending: joined with a token that had just run out; nothing is read. live: reads one owner's
 * changes. closed: for good; a topic that is joined again gets another channel.
 */
type State = 'joining' | 'pending' | 'live' | 'closed';

/** One join of a topic, until its client leaves, joins anew, or the channel ends. */
export interface Channel extends ChannelAddress {
  readonly config: JoinRequest['config'];
  readonly isJoined: boolean;
  /** Answers the join. */
  join(): Promise<void>;
  /** Another token: whoever it belongs to has the channel from then on. */
  offer(token: string): Promise<void>;
  /** At once: nothing more is written, and a hand-over that is under way comes to nothing. */
  close(): void;
}

type User = Extract<Caller, { kind: 'user' }>;

/** What the channels of one socket have in common. */
export interface ChannelsOfSocket {
  /**
   * Takes what a channel needs of the user's share of this gateway: a place, one for each socket, and its bindings; and
   * watches over the session. Or says of what too little is left. The returned function gives it back.
   */
  hold(user: User, bindings: readonly Binding[]): (() => void) | 'connections' | 'bindings';
  /** Says on every channel why, then ends the socket: clients come back by themselves. */
  closeAll(reason: EndReason, close: [code: number, why: string]): void;
}

export interface ChannelDeps {
  context: Pick<GatewayContext, 'authenticateToken' | 'clock'>;
  feed: Feed;
  wire: Wire;
  metrics: TransportMetrics;
  channels: ChannelsOfSocket;
  onClosed(channel: Channel): void;
}

interface Refusal {
  why: FailureReason;
  reason: string;
}

const NOT_VALID: Refusal = { why: 'refused', reason: 'InvalidJWTToken: The token provided is not valid' };
/** Why the user of a good token cannot have a channel. */
const OBSTACLES = {
  connections: { why: 'refused', reason: 'ConnectionRateLimitReached: Too many connections of this user' },
  bindings: { why: 'subscription_limit', reason: 'FilterLimitReached: Too many bindings or filters of this user' },
  unavailable: { why: 'unavailable', reason: 'UnableToSubscribe: The service is not available right now' },
} as const satisfies Record<string, Refusal>;

export function createChannel(request: JoinRequest, deps: ChannelDeps): Channel {
  const { topic, joinRef, bindings, config } = request;
  const { context, feed, wire, metrics, channels } = deps;
  let state: State = 'joining';
  /** The last one that counted. */
  let token = request.token;
  let joinedBy: string | undefined;
  /** Where the one who joined goes on; used up by the first reading. */
  let since = request.since;
  let reading: Reading | undefined;
  /** Gives back what belongs to the token: the watch over its session, the user's place; or ends the wait for a fresh one. */
  let release = () => {};
  let unsubscribed = () => {};
  let turn: Promise<unknown> = Promise.resolve();

  const isClosed = () => state === 'closed';

  /** Hand-overs come one after the other, in the order of their tokens; closing waits for none, and every wait ends in a look for it. */
  const inTurn = (step: () => Promise<void>): Promise<void> => {
    const mine = turn.then(() => (isClosed() ? undefined : step()));
    turn = mine.catch(() => undefined);
    return mine;
  };

  const close = () => {
    if (isClosed()) return;
    state = 'closed';
    reading?.stop();
    release();
    unsubscribed();
    deps.onClosed(channel);
  };

  const refuse = ({ why, reason }: Refusal) => {
    close();
    metrics.failed('channel', why);
    wire.reply(request, 'error', { reason });
  };

  const fail = ({ why, reason }: Refusal) => {
    close();
    metrics.failed('channel', why);
    wire.system(channel, { extension: 'system', status: 'error', message: reason });
    wire.failChannel(channel);
  };

  /** The user of a token; undefined when it does not count, `isFading` when it did until a moment ago. */
  const userOf = async (value: string): Promise<{ user: User; isFading: boolean } | undefined> => {
    const caller = await context.authenticateToken(value, { graceS: EXPIRED_TOKEN_GRACE_S });
    if (caller.kind !== 'user') return undefined;
    return { user: caller, isFading: caller.claims.exp * 1000 <= context.clock.now() };
  };

  const onReadingEnd = (reason: ReadingEnd) => {
    if (reason === 'slow') return channels.closeAll('slow', [WS_CLOSE.tryLater, 'Too slow']);
    if (reason === 'stopped') return channels.closeAll('restart', [WS_CLOSE.restart, 'Service restart']);
    if (state === 'joining') return refuse(OBSTACLES.unavailable);
    fail({ why: 'cursor_expired', reason: 'CURSOR_EXPIRED: the tasks were restored; read them anew' });
  };

  const waitForFreshToken = () => {
    const timer = setTimeout(() => {
      close();
      wire.failChannel(channel, { code: WS_CLOSE.unauthorized, reason: 'token expired' });
    }, FRESH_TOKEN_WITHIN_MS);
    release = () => clearTimeout(timer);
  };

  /** Makes the channel this user's, with a reading that waits to be opened; the same user's reading goes on. */
  const handOver = async (user: User): Promise<keyof typeof OBSTACLES | undefined> => {
    const { userId } = user.identity;
    // Given back first: who has all places in use must be able to go on in one of them.
    release();
    release = () => {};
    const held = channels.hold(user, bindings);
    if (typeof held === 'string') return held;
    release = held;
    if (reading?.owner === userId) return undefined;
    // Nothing of the former user is delivered from this moment on.
    reading?.stop();
    reading = createReading({
      ...request,
      owner: userId,
      feed,
      clock: context.clock,
      wire,
      metrics,
      onEnd: onReadingEnd,
    });
    const after = userId === joinedBy ? since : undefined;
    since = undefined;
    return reading.begin(after).then(
      () => undefined,
      () => 'unavailable' as const,
    );
  };

  /** What is told once a hand-over is done, and the changes that came meanwhile. */
  const open = () => {
    if (reading?.hasLostItsPlace) {
      metrics.failed('channel', 'cursor_expired');
      wire.system(channel, { extension: 'resume', status: 'error', message: 'CURSOR_EXPIRED' });
    }
    reading?.open();
  };

  const answer = (next: 'pending' | 'live') => {
    state = next;
    unsubscribed = metrics.subscribed('channel');
    wire.reply(request, 'ok', { postgres_changes: bindings.map(({ asked, id }) => ({ ...asked, id })) });
    if (bindings.length > 0)
      wire.system(channel, { extension: 'postgres_changes', status: 'ok', message: 'Subscribed to PostgreSQL' });
    if (config.presence?.enabled === true || config.presence?.enabled === 'true')
      wire.send({ joinRef, ref: null, topic, event: 'presence_state', payload: {} });
    open();
  };

  const channel: Channel = {
    topic,
    joinRef,
    config,
    get isJoined() {
      return state === 'pending' || state === 'live';
    },
    join: () =>
      inTurn(async () => {
        const found = await userOf(token);
        if (isClosed()) return;
        if (!found) return refuse(NOT_VALID);
        joinedBy = found.user.identity.userId;
        if (found.isFading) {
          waitForFreshToken();
          return answer('pending');
        }
        const obstacle = await handOver(found.user);
        if (isClosed()) return;
        if (!obstacle) return answer('live');
        refuse(OBSTACLES[obstacle]);
        if (obstacle === 'connections')
          channels.closeAll('connection_limit', [WS_CLOSE.tryLater, 'Too many connections']);
      }),
    offer: (fresh) =>
      inTurn(async () => {
        if (fresh === token) return;
        const found = await userOf(fresh);
        if (isClosed()) return;
        if (!found)
          return channels.closeAll('unauthorized', [WS_CLOSE.unauthorized, 'The token provided is not valid']);
        if (found.isFading) return; // one that just ran out says nothing new; the present one is watched
        token = fresh;
        state = 'live';
        const obstacle = await handOver(found.user);
        if (isClosed()) return;
        if (!obstacle) return open();
        if (obstacle === 'connections')
          return channels.closeAll('connection_limit', [WS_CLOSE.tryLater, 'Too many connections']);
        if (obstacle === 'bindings') return fail(OBSTACLES.bindings);
        channels.closeAll('error', [WS_CLOSE.tryLater, 'The service is not available right now']);
      }),
    close,
  };
  return channel;
}
