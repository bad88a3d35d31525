import type { IncomingMessage } from 'node:http';
import type { WebSocket } from 'ws';
import { serveConnection, type ConnectionDeps, type ConnectionOptions } from './connection.ts';
import type { ProtocolVersion } from './frames.ts';
import { isMeantForUs } from './tokens.ts';

export const REALTIME_PATH = '/realtime/v1/websocket';

/** The `tasks` channel for Supabase clients as they are. */
export interface Phoenix {
  /** What a handshake asks for, or why it is refused. */
  read(request: IncomingMessage): ConnectionOptions | { refused: { status: number; reason: string } };
  opened(socket: WebSocket, options: ConnectionOptions): void;
}

export function createPhoenix(deps: ConnectionDeps): Phoenix {
  const { anonKey } = deps.parts.config.realtime;
  return {
    read({ url = '' }) {
      const params = new URL(url, 'http://gateway').searchParams;
      const apikey = params.get('apikey') ?? '';
      const version = params.get('vsn') ?? '1.0.0';
      if (apikey === '') return { refused: { status: 401, reason: 'API key is missing' } };
      // A user's token may come in its place; whether it counts is found out when a channel is joined.
      if (anonKey !== undefined && apikey !== anonKey && !isMeantForUs(apikey))
        return { refused: { status: 401, reason: 'The API key is not valid' } };
      if (!isVersion(version)) return { refused: { status: 400, reason: 'vsn must be 1.0.0 or 2.0.0' } };
      return { apikey, version };
    },
    opened: (socket, options) => serveConnection(socket, options, deps),
  };
}

function isVersion(text: string): text is ProtocolVersion {
  return text === '1.0.0' || text === '2.0.0';
}
