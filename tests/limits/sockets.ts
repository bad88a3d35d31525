import { WebSocket } from 'ws';

interface Conversation {
  url: string;
  protocol?: string;
  /** Sent as they are if they are texts. */
  frames: readonly unknown[];
  /** What a frame says about the outcome, if it is the one that was waited for. */
  outcome(frame: never, socket: WebSocket): string | undefined;
}

export interface Opened {
  outcome: string;
  socket: WebSocket;
}

const textOf = (frame: unknown) => (typeof frame === 'string' ? frame : JSON.stringify(frame));

/** Opens a socket, sends frames, and resolves with the outcome, which may be the code of a close. */
function converse({ url, protocol, frames, outcome }: Conversation): Promise<Opened> {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(url.replace(/^http/, 'ws'), protocol ? [protocol] : []);
    socket.on('open', () => {
      for (const frame of frames) socket.send(textOf(frame));
    });
    socket.on('error', reject);
    socket.on('close', (code) => resolve({ outcome: String(code), socket }));
    socket.on('message', (bytes) => {
      const found = outcome(JSON.parse(String(bytes)) as never, socket);
      if (found !== undefined) resolve({ outcome: found, socket });
    });
  });
}

/** graphql-transport-ws: resolves at the result of the operation. With a token, frames are sent once it is acknowledged. */
export function graphqlWs(url: string, token: string | undefined, frames: readonly unknown[]): Promise<Opened> {
  const init = { type: 'connection_init', payload: { authorization: `Bearer ${token}` } };
  return converse({
    url: `${url}/graphql`,
    protocol: 'graphql-transport-ws',
    frames: token === undefined ? frames : [init],
    outcome({ type }: { type: string }, socket) {
      if (type === 'connection_ack') for (const frame of frames) socket.send(textOf(frame));
      return type === 'next' || type === 'error' ? type : undefined;
    },
  });
}

const TOPIC = 'realtime:limits';

/**
 * Supabase Realtime: resolves at the reply to the join, or when a heartbeat after the frame is answered first. With
 * `change`, which is made once the channel has joined, it resolves when that arrives.
 */
export function channel(url: string, join: unknown, change?: () => unknown): Promise<Opened> {
  const frame = typeof join === 'string' ? join : ['1', '1', TOPIC, 'phx_join', join];
  const heartbeat = [null, '2', 'phoenix', 'heartbeat', {}];
  return converse({
    url: `${url}/realtime/v1/websocket?apikey=public-key&vsn=2.0.0`,
    frames: typeof join === 'string' ? [frame, heartbeat] : [frame],
    outcome([, , topic, event, payload]: [unknown, unknown, string, string, { status?: string }]) {
      if (event === 'postgres_changes') return 'change';
      if (event !== 'phx_reply') return undefined;
      if (topic !== TOPIC) return 'dropped';
      if (payload.status !== 'ok' || !change) return `join ${payload.status}`;
      change();
      return undefined;
    },
  });
}

/** Server-sent events: resolves when the stream is open, with how to read its first change to the end. */
export async function subscribe(url: string, token: string, query: string) {
  const response = await fetch(`${url}/graphql`, {
    method: 'POST',
    headers: { accept: 'text/event-stream', 'content-type': 'application/json', authorization: `Bearer ${token}` },
    body: JSON.stringify({ query }),
  });
  return async (): Promise<string> => {
    let hasData = false;
    for await (const chunk of response.body ?? []) {
      const text = Buffer.from(chunk).toString();
      hasData ||= text.includes('data: {');
      if (hasData && text.endsWith('\n\n')) return 'next';
    }
    return String(response.status);
  };
}
