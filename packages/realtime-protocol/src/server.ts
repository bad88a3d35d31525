import type { WebSocket } from 'ws';
import { createViews } from './change-view.ts';
import type { Channel } from './channel.ts';
import { createBindingLimits, createChannels } from './channels.ts';
import { createFilters } from './filter.ts';
import { createMessageRate, cutFloods } from './incoming.ts';
import { MAX_BINDINGS, MAX_TOKEN_LENGTH, tokenOf } from './join.ts';
import { createChannelMessages, decode, type Message, type ProtocolVersion } from './messages.ts';
import type { Metrics, RealtimeOptions } from './options.ts';
import {
  createFrames,
  endSocket,
  failSocket,
  frameWriter,
  retire,
  setBeforeClose,
  WS_CLOSE,
  type Connection,
} from './socket.ts';
import { createHeartbeats, keepAlive } from './timers.ts';

/** The path, below their configured URL, that the official clients connect to. */
export const REALTIME_PATH = '/realtime/v1/websocket';

/** Clients send a heartbeat every 25 s. After three missed heartbeats, the client is considered gone. */
const SILENCE_MS = 75_000;
/** Per user, because each change is tested and serialized for it: 10 patterns (1 ms for a long text) or 40 sets of columns. */
const FILTER_COST = 400;
/** The memory for distinct filters: per user, and for all users except those with little. */
const FILTER_BYTES = { bytes: 2 ** 20, allBytes: 32 * 2 ** 20, smallUserBytes: 16 * 2 ** 10 };
const NO_METRICS: Metrics = { subscribed: () => () => {}, failed: () => {}, delivered: () => {} };

/** The parameters of a client's URL. */
export interface Handshake {
  version: ProtocolVersion;
  /** The public key, or a user's token. */
  apikey: string;
}

export interface RealtimeServer {
  /** Reads the URL of an upgrade request. Returns the status and reason if the request must be refused. */
  read(url: string): Handshake | { refused: { status: 400 | 401; reason: string } };
  /** Serves a socket that was upgraded on this connection. `ip` is the client's address. */
  serve(socket: WebSocket, connection: Connection, client: Handshake & { ip: string }): void;
}

/**
 * Serves the changes of one table to unmodified clients of Supabase Realtime, see
 * https://supabase.com/docs/guides/realtime/protocol. Broadcasts do not reach other clients, and presence is always empty.
 */
export function createRealtimeServer(options: RealtimeOptions): RealtimeServer {
  const { table, tokens, limits = {}, subscribe, takeSocket = () => () => {}, limitAge = () => () => {} } = options;
  const { takeChannel = () => () => {}, reserve = () => () => {}, compile = async (work) => work() } = options;
  const { metrics = NO_METRICS, now = () => Date.now(), heartbeats = createHeartbeats() } = options;
  const { channels: maxChannels = 20, messagesPerSecond = 20 } = limits;
  const { publicKey } = tokens;
  const bindingLimits = createBindingLimits({
    bindings: Math.max(MAX_BINDINGS, limits.bindings ?? 400),
    cost: FILTER_COST,
    ...FILTER_BYTES,
  });
  const frameOf = createFrames();
  const ofTable = { table, filterOf: createFilters(table), selections: new Map(), viewOf: createViews(table) };
  const shared = { ...ofTable, subscribe, takeSocket, metrics, now, maxChannels, bindingLimits };

  const serve: RealtimeServer['serve'] = (socket, connection, { version, apikey, ip }) => {
    const messages = createChannelMessages({ socket, version, writeFrame: frameWriter(socket, connection), frameOf });
    const keys = { apikey, publicKey, isOfUser: tokens.isOfUser };
    const channels = createChannels({
      ...shared,
      socket,
      keys,
      messages,
      verify: (token) => tokens.verify(token, ip),
      compile: (work) => compile(work, ip),
      takeChannel: (bytes) => takeChannel(bytes, ip),
    });
    const isWithinMessageRate = createMessageRate(messagesPerSecond);
    let lastReceivedAt = performance.now();

    const isWithinRate = ({ length }: Buffer) => {
      if (isWithinMessageRate(length)) return true;
      channels.closeAll('message_rate', [WS_CLOSE.tryLater, 'Too many messages per second']);
      return false;
    };

    const broadcast = (message: Message, { wants }: Channel) => {
      // A broadcast never reaches other clients: the sender receives only its own echo and the acknowledgement.
      if (wants.echoes) messages.echo(message);
      if (wants.acknowledgements) messages.reply(message, 'ok', {});
    };

    const onMessage = async (message: Message) => {
      const { topic, event, joinRef, payload } = message;
      if (topic === 'phoenix' && event === 'heartbeat') return messages.reply(message, 'ok', {});
      if (event === 'phx_join') return channels.join(message);
      const current = channels.get(topic);
      // Messages of an earlier join of the same topic are ignored; some clients omit the ref.
      const channel = current && isOfJoin(joinRef, current) ? current : undefined;
      if (event === 'phx_leave') {
        channel?.close();
        messages.reply(message, 'ok', {});
        return channel && messages.closeChannel(channel);
      }
      if (!current) return messages.reply(message, 'error', { reason: 'unmatched topic' });
      if (!channel) return;
      if (event === 'access_token') {
        const token = tokenOf(payload['access_token'], keys);
        return token === undefined ? undefined : channel.updateToken(token);
      }
      if (!channel.isJoined()) return;
      if (event === 'presence') messages.reply(message, 'ok', {});
      if (event === 'broadcast') broadcast(message, channel);
    };

    socket.on('message', (bytes, isBinary) => {
      lastReceivedAt = performance.now();
      const frame = bytes as Buffer; // with ws's default binaryType
      if (!isWithinRate(frame) || socket.readyState !== socket.OPEN) return;
      const release = isBinary ? () => {} : reserve(frame, ip); // binary messages are answered at once
      if (release === 'invalid') return;
      if (!release) return channels.closeAll('unavailable', [WS_CLOSE.tryLater, 'Too much arrives right now']);
      const message = decode(version, frame, isBinary);
      const handled = message ? onMessage(message) : Promise.resolve();
      handled
        .catch((error: unknown) =>
          failSocket(socket, error, options, [1011, 'Internal error'], (close) => channels.closeAll('error', close)),
        )
        .finally(release);
    });
    socket.on('error', () => socket.terminate()); // the client broke the protocol; without a listener, the process would end
    // `ws` answers every ping, so pings count as messages.
    socket.on('ping', isWithinRate);
    const stopListening = heartbeats.add(() => {
      if (performance.now() - lastReceivedAt > SILENCE_MS) endSocket(socket, 'silent', [1000, 'heartbeat timeout']);
    });
    keepAlive(socket, heartbeats);
    cutFloods(socket, messagesPerSecond);
    setBeforeClose(socket, channels.announceEnd);
    const forgetAge = limitAge(() => retire(socket), channels.canResume);
    socket.once('close', () => {
      stopListening();
      forgetAge();
      channels.endAll();
    });
  };

  return {
    read(url) {
      const params = new URLSearchParams(url.replace(/^[^?]*|#.*$/g, '')); // `URL` refuses some paths
      const apikey = params.get('apikey') ?? '';
      const version = params.get('vsn') ?? '1.0.0';
      if (apikey === '') return { refused: { status: 401, reason: 'API key is missing' } };
      // A client may send a user's token instead of the key; the token is verified when a channel is joined.
      const isKnown = publicKey === undefined || apikey === publicKey || tokens.isOfUser(apikey);
      if (!isKnown || apikey.length > MAX_TOKEN_LENGTH)
        return { refused: { status: 401, reason: 'The API key is not valid' } };
      if (version !== '1.0.0' && version !== '2.0.0')
        return { refused: { status: 400, reason: 'vsn must be 1.0.0 or 2.0.0' } };
      return { apikey, version };
    },
    serve,
  };
}

function isOfJoin(joinRef: string | null, channel: Channel): boolean {
  return joinRef === null || channel.joinRef === null || joinRef === channel.joinRef;
}
