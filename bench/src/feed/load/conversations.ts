import { randomBytes } from 'node:crypto';
import type { Speech } from '../cells.ts';
import type { User } from '../users.ts';
import { PONG_FRAME, textFrame } from './frames.ts';

/** How a client gets to its changes, and stays connected. */
export interface Conversation {
  /** The request's head and body. */
  opening: string;
  /** What an accepting answer begins with. */
  accepted: string;
  /** What to say once accepted, and when the server has said the text before it. */
  turns: { after: string; say: Buffer }[];
  /** What keeps the connection when it is said every ten seconds. */
  signOfLife: Buffer | undefined;
}

/** All that a list shows, and where it stands. */
const QUERY = `subscription { taskChanges { cursor sequence kind task {
  id title description completed dueDate category priority createdAt updatedAt version } } }`;

const EVERY_CHANGE = { postgres_changes: [{ event: '*', schema: 'public', table: 'tasks' }] };

export const conversations: Record<Speech, (user: User) => Conversation> = {
  bare: ({ id }) => ({ ...upgrade(`/${id}`), turns: [], signOfLife: undefined }),
  'graphql-ws': ({ token }) => ({
    ...upgrade('/graphql', ['sec-websocket-protocol: graphql-transport-ws']),
    turns: [
      { after: '', say: message({ type: 'connection_init', payload: { authorization: `Bearer ${token}` } }) },
      { after: '"connection_ack"', say: message({ id: '1', type: 'subscribe', payload: { query: QUERY } }) },
    ],
    signOfLife: PONG_FRAME,
  }),
  sse: (user) => request(user, 'text/event-stream'),
  multipart: (user) => request(user, 'multipart/mixed;subscriptionSpec=1.0'),
  channel: ({ token }) => ({
    ...upgrade('/realtime/v1/websocket?apikey=public-key&vsn=2.0.0'),
    turns: [
      {
        after: '',
        say: message(['1', '1', 'realtime:tasks', 'phx_join', { access_token: token, config: EVERY_CHANGE }]),
      },
    ],
    signOfLife: Buffer.concat([PONG_FRAME, message([null, '2', 'phoenix', 'heartbeat', {}])]),
  }),
};

function upgrade(path: string, headers: string[] = []): Pick<Conversation, 'opening' | 'accepted'> {
  const own = ['connection: Upgrade', 'upgrade: websocket', 'sec-websocket-version: 13'];
  const key = `sec-websocket-key: ${randomBytes(16).toString('base64')}`;
  return { opening: head(`GET ${path}`, [...own, key, ...headers]), accepted: 'HTTP/1.1 101 ' };
}

function request({ token }: User, accept: string): Conversation {
  const body = JSON.stringify({ query: QUERY });
  const type = ['content-type: application/json', `content-length: ${Buffer.byteLength(body)}`];
  const opening = head('POST /graphql', [`authorization: Bearer ${token}`, `accept: ${accept}`, ...type]) + body;
  return { opening, accepted: 'HTTP/1.1 200 ', turns: [], signOfLife: undefined };
}

const head = (request: string, headers: string[]) =>
  [`${request} HTTP/1.1`, 'host: 127.0.0.1', ...headers, '', ''].join('\r\n');

const message = (content: unknown) => textFrame(JSON.stringify(content));
