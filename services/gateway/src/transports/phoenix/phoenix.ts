import type { IncomingMessage } from 'node:http';
import type { WebSocket } from 'ws';
import { createBindingLimits } from './binding-limits.ts';
import { MAX_BINDINGS } from './bindings.ts';
import { createFrames } from '../sockets/text-frames.ts';
import type { Connection } from '../write-shared.ts';
import { serveConnection, type ConnectionDeps, type ConnectionOptions } from './connection.ts';
import type { ProtocolVersion } from './frames.ts';
import { isMeantForUs } from './tokens.ts';

export const REALTIME_PATH = '/realtime/v1/websocket';

/** Serves the `tasks` channel to unmodified Supabase clients. */
export interface Phoenix {
  /** The options of a handshake, or why it is refused. */
  read(request: IncomingMessage): ConnectionOptions | { refused: { status: number; reason: string } };
  opened(socket: WebSocket, connection: Connection, options: ConnectionOptions): void;
}

/** All distinct filters of a user are tested on every change: 100 patterns, which take some milliseconds. */
const MAX_FILTER_COST_PER_USER = 400;

export function createPhoenix(deps: Omit<ConnectionDeps, 'bindingLimits' | 'frameOf'>): Phoenix {
  const { anonKey, maxSubscriptions, maxSocketsPerUser } = deps.context.config.realtime;
  const bindingLimits = createBindingLimits({
    // One for each channel that a user may have, but at least as many as one channel may have.
    bindings: Math.max(MAX_BINDINGS, maxSubscriptions * maxSocketsPerUser),
    cost: MAX_FILTER_COST_PER_USER,
  });
  const ofConnections = { ...deps, bindingLimits, frameOf: createFrames() };
  return {
    read(request) {
      const { url = '' } = request;
      const params = new URL(url, 'http://gateway').searchParams;
      const apikey = params.get('apikey') ?? '';
      const version = params.get('vsn') ?? '1.0.0';
      if (apikey === '') return { refused: { status: 401, reason: 'API key is missing' } };
      // A user's token may come instead of the key; it is verified when a channel is joined.
      if (anonKey !== undefined && apikey !== anonKey && !isMeantForUs(apikey))
        return { refused: { status: 401, reason: 'The API key is not valid' } };
      if (!isVersion(version)) return { refused: { status: 400, reason: 'vsn must be 1.0.0 or 2.0.0' } };
      return { apikey, version, ip: deps.context.clientIp(request) };
    },
    opened: (socket, connection, options) => serveConnection(socket, connection, options, ofConnections),
  };
}

function isVersion(text: string): text is ProtocolVersion {
  return text === '1.0.0' || text === '2.0.0';
}
