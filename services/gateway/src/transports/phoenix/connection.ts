import type { WebSocket } from 'ws';
import type { Feed } from '../../feed/feed.ts';
import { endSocket, failSocket, frameWriter, keepAlive, retire, setFarewell, WS_CLOSE } from '../sockets/socket.ts';
import type { FrameOf } from '../sockets/text-frames.ts';
import type { TransportDeps } from '../transport.ts';
import type { Connection } from '../write-shared.ts';
import type { BindingLimits } from './binding-limits.ts';
import type { Channel } from './channel.ts';
import { createChannels } from './channels.ts';
import { decode, type Message, type ProtocolVersion } from './frames.ts';
import { isOn } from './join.ts';
import { tokenOf } from './tokens.ts';
import { createChannelMessages } from './channel-messages.ts';

/** Clients send a heartbeat every 25 s; after three missed ones the client is considered gone. */
const SILENCE_MS = 75_000;

export interface ConnectionDeps extends TransportDeps {
  feed: Feed;
  bindingLimits: BindingLimits;
  frameOf: FrameOf;
}

export interface ConnectionOptions {
  version: ProtocolVersion;
  /** From the URL: the public key, or a user's token. */
  apikey: string;
  /** The client's address. */
  ip: string;
}

/** One socket of the Supabase Realtime protocol: see https://supabase.com/docs/guides/realtime/protocol */
export function serveConnection(
  socket: WebSocket,
  connection: Connection,
  { version, apikey, ip }: ConnectionOptions,
  deps: ConnectionDeps,
): void {
  const { context, frameOf, heartbeats, limitAge, limits } = deps;
  const messages = createChannelMessages({ socket, version, writeFrame: frameWriter(socket, connection), frameOf });
  const keys = { apikey, anonKey: context.config.realtime.anonKey };
  const channels = createChannels({ ...deps, socket, keys, messages, ip });
  const mayTalk = limits.messages();
  let lastHeardAt = performance.now();

  const isWithinRate = () => {
    if (mayTalk()) return true;
    channels.closeAll('message_rate', [WS_CLOSE.tryLater, 'Too many messages per second']);
    return false;
  };

  const broadcast = (message: Message, { config: { broadcast: options } }: Channel) => {
    // A client's broadcast never reaches other clients: it gets only its own echo and the acknowledgement.
    if (isOn(options?.self)) messages.echo(message);
    if (isOn(options?.ack)) messages.reply(message, 'ok', {});
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
      return messages.closeChannel(channel ?? { topic, joinRef });
    }
    if (!current) return messages.reply(message, 'error', { reason: 'unmatched topic' });
    if (!channel) return;
    if (event === 'access_token') {
      const token = tokenOf(payload['access_token'], keys);
      return token === undefined ? undefined : channel.offer(token);
    }
    if (!channel.isJoined()) return;
    if (event === 'presence') messages.reply(message, 'ok', {});
    if (event === 'broadcast') broadcast(message, channel);
  };

  socket.on('message', (bytes, isBinary) => {
    lastHeardAt = performance.now();
    if (!isWithinRate() || socket.readyState !== socket.OPEN) return;
    const message = decode(version, bytes as Buffer, isBinary); // always a Buffer with ws's default binaryType
    if (!message) return;
    onMessage(message).catch((error: unknown) =>
      failSocket(socket, error, context.log, [1011, 'Internal error'], (close) => channels.closeAll('error', close)),
    );
  });
  // The library answers every ping, so pings count as messages.
  socket.on('ping', isWithinRate);
  const stopListening = heartbeats.add(() => {
    if (performance.now() - lastHeardAt > SILENCE_MS) endSocket(socket, 'silent', [1000, 'heartbeat timeout']);
  });
  keepAlive(socket, heartbeats);
  setFarewell(socket, channels.sayGoodbye);
  const forgetAge = limitAge(() => retire(socket), channels.canResume);
  socket.once('close', () => {
    stopListening();
    forgetAge();
    channels.endAll();
  });
}

function isOfJoin(joinRef: string | null, channel: Channel): boolean {
  return joinRef === null || channel.joinRef === null || joinRef === channel.joinRef;
}
