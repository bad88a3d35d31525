import { createHash, randomBytes } from 'node:crypto';
import { PASSWORD } from '../../http.ts';
import { TASK_FIELDS, times } from '../limits/case.ts';
import type { Client } from './clients.ts';

/** One account or 40 from one address, 40 from 40 addresses, or strangers from one address. */
export type Group = 'account' | 'accounts' | 'addresses' | 'strangers';
/** What a client may do without end: its name, who does it, what becomes of some of it at least, how, how many at once. */
export type Way = [string, Group[], RegExp, run: (client: Client) => Promise<string>, atOnce?: number];

const USERS: Group[] = ['account', 'accounts'];
const ALL: Group[] = [...USERS, 'strangers'];
const CHEAP: Group[] = [...USERS, 'addresses'];
const STRANGER: Group[] = ['strangers'];
const CALLERS: Group[] = ['strangers', 'addresses'];
/** All connections of an address, and all of its sockets, with some that are refused. */
const [CONNECTIONS, SOCKETS] = [2_100, 1_100];
const [OK, REFUSED, HELD, ENDED] = [/^200( open)?$/, /^401/, /^(closed open|503)/, /open|1013|44\d\d/];
const [JOINED, PONG] = [/"status":"ok"/, /"pong"/];

const many = (count: number, field: (at: number) => string) => `{ ${times(count, (at) => `a${at}: ${field(at)}`)} }`;
const random = () => randomBytes(32).toString('base64url');
const FIELDS = TASK_FIELDS.join(' ');
const LARGE = `{ tasks(first: 1000) { edges { node { ${FIELDS} } } } }`;
const LISTS = many(20, (at) => `tasks(first: 100, offset: ${at}) { edges { node { ${FIELDS} } } }`);
const RULES = 'filter: { category: $c, completed: false }, orderBy: { field: PRIORITY }';
const FOUND = `query($c: String) ${many(20, (at) => `tasks(first: 5, offset: ${at}, ${RULES}) { totalCount }`)}`;
const STATISTICS = many(25, () => 'taskStatistics { total completed }');
const UPDATES = `mutation($id: ID!, $input: UpdateTaskInput!) ${many(25, () => 'updateTask(id: $id, input: $input) { id }')}`;
const TYPES = '__schema { types { name fields { name args { type { name } } type { name } } } }';
const SUBSCRIPTION = `subscription { taskChanges { task { ${FIELDS} owner { name } } } }`;
const REPEATED = `${times(60, (of) => TASK_FIELDS[of % 9] ?? '')} owner { name }`;
const TAGS = { 'if-none-match': '"a",'.repeat(3_000) };
const PING = { type: 'ping', payload: { a: Array<number>(9_000).fill(1) } };
const BLANKS = ' '.repeat(2 ** 20 - 1);
const IN = `category=in.(?,${'a,'.repeat(78)}a)`;
const SELF = { broadcast: { self: true }, presence: { enabled: true } };
const BROADCAST = { event: 'x', payload: 'x'.repeat(30_000) };
const SIGN_IN = `/api/auth/oidc/start?code_challenge=${'x'.repeat(43)}`;

const email = () => `${random()}@example.com`;
const personalToken = () => ({ authorization: `Bearer taskmesh_pat_${random()}` });
const search = ({ graphql, turn }: Client) => graphql(FOUND, { variables: { c: `c${turn()}` } });
const read = (client: Client) => client.graphql(many(29, () => `task(id: "${client.turn()}") { ${REPEATED} }`));
const update = ({ graphql, taskId, turn }: Client) =>
  graphql(UPDATES, { variables: { id: taskId, input: { description: '😀'.repeat(2_000), category: `c${turn()}` } } });
function persisted({ graphql, turn }: Client) {
  const query = `{ ${times(29, () => `a${turn()}: __typename`)} }`;
  const sha256Hash = createHash('sha256').update(query).digest('hex');
  return graphql(query, { extensions: { persistedQuery: { version: 1, sha256Hash } } });
}
async function refresh({ send, post, email }: Client) {
  let text = '';
  const login = { email, password: PASSWORD, refresh: true };
  const outcome = await send('POST', '/api/auth/login', login, {}, (part) => (text += part));
  return outcome === '200' ? post('/api/auth/refresh', JSON.parse(text) as object) : outcome;
}
/** A stream that is not read, while its account changes tasks. */
async function unread(client: Client, accept: string) {
  const stream = client.ignore(SUBSCRIPTION, accept);
  while (!client.isOver()) await update(client);
  return stream;
}
const subscribe = (id: number, query: string) => ({ id: String(id), type: 'subscribe', payload: { query } });
const push = (topic: string, event: string, payload: object) => ['1', '1', `realtime:${topic}`, event, payload];
/** Joins of new channels, with so many filters. */
function join({ channel, turn, token }: Client, count: number, filter: string, everyMs: number) {
  const binding = () => ({ event: '*', schema: 'public', table: 'tasks', filter: filter.replace('?', String(turn())) });
  const config = () => (count > 0 ? { postgres_changes: Array.from({ length: count }, binding) } : {});
  const next = () => push(`${turn()}`, 'phx_join', { config: config(), access_token: token });
  return channel(undefined, { next, everyMs, proof: JOINED });
}

const lists = ({ graphqlWs, turn }: Client) => graphqlWs({ next: () => subscribe(turn(), LARGE), reads: false });
const another = (turn: number) => SUBSCRIPTION.replace('id ', `a${turn}: id `);
const storm = ({ graphqlWs, turn }: Client) =>
  graphqlWs({
    next: (id = turn()) => (id % 3 ? subscribe(id % 40, another(id)) : { id: `${(id + 20) % 40}`, type: 'complete' }),
  });
const broadcast = ({ channel, turn, token }: Client) =>
  channel(push('all', 'phx_join', { config: SELF, access_token: token }), {
    proof: JOINED,
    next: () => (turn() % 2 ? push('all', 'broadcast', BROADCAST) : push('all', 'presence', { event: 'track' })),
  });

export const WAYS: readonly Way[] = [
  ['GraphQL: 1,000 large tasks', CHEAP, OK, (c) => c.graphql(LARGE)],
  ['GraphQL: pages of 100', CHEAP, OK, (c) => c.graphql(LARGE.replace('1000', '100'))],
  ['GraphQL: 20 lists', CHEAP, OK, (c) => c.graphql(LISTS)],
  ['GraphQL: lists with filters', CHEAP, OK, search],
  ['GraphQL: statistics', CHEAP, OK, (c) => c.graphql(STATISTICS)],
  ['GraphQL: mutations', CHEAP, OK, update],
  ['GraphQL: new documents', ALL, OK, read],
  [
    'GraphQL: refused documents',
    ALL,
    /^200 GRAPHQL_VALIDATION_FAILED/,
    (c) => c.graphql(`{ ${times(1_900, () => `x${c.turn()}`)} }`),
  ],
  ['GraphQL: introspection', ALL, OK, (c) => c.graphql(`{ a${c.turn()}: ${TYPES} }`)],
  ['GraphQL: persisted queries', ALL, OK, persisted],
  ['REST: lists of 1,000 by priority', CHEAP, OK, (c) => c.get('/api/tasks?sortBy=priority&order=asc')],
  ['REST: lists with If-None-Match', USERS, OK, (c) => c.get('/api/tasks', TAGS)],
  ['REST: exports', USERS, OK, (c) => c.get('/api/auth/export')],
  ['logins and refreshes', USERS, OK, refresh],
  ['wrong passwords', CALLERS, REFUSED, (c) => c.post('/api/auth/login', { email: email(), password: 'wrong' })],
  ['invented refresh tokens', CALLERS, REFUSED, (c) => c.post('/api/auth/refresh', { refresh_token: random() })],
  ['invented personal tokens', CALLERS, REFUSED, (c) => c.get('/api/tasks', personalToken())],
  ['recovery mails', CALLERS, OK, (c) => c.post('/api/auth/forgot-password', { email: email() })],
  ['sign-ins at the provider', CALLERS, /^302/, (c) => c.get(SIGN_IN)],
  ['pipelined requests', ALL, /^(200|401)/, (c) => c.write(c.head('GET /api/tasks').repeat(9))],
  ['1 MiB but for its last byte', ALL, HELD, (c) => c.write(c.head('POST /graphql', 2 ** 20) + BLANKS), 200],
  ['slow bodies', STRANGER, HELD, (c) => c.write(c.head('POST /graphql', 9_999), { more: ' ' }), CONNECTIONS],
  ['unfinished headers', STRANGER, HELD, (c) => c.write(`GET / HTTP/1.1\r\nx: ${'x'.repeat(15_000)}`), CONNECTIONS],
  ['idle connections', STRANGER, /404 open/, (c) => c.write(c.head('GET /nothing')), CONNECTIONS],
  ['unread answers', CHEAP, /^200/, (c) => c.ignore(LARGE, '*/*')],
  ['SSE, unread', USERS, /^200/, (c) => unread(c, 'text/event-stream')],
  ['multipart, unread', USERS, /^200/, (c) => unread(c, 'multipart/mixed;subscriptionSpec=1.0')],
  ['graphql-ws: idle', ALL, ENDED, (c) => c.graphqlWs(), SOCKETS],
  ['graphql-ws: large messages', ALL, PONG, (c) => c.graphqlWs({ next: () => PING, proof: PONG }), SOCKETS],
  ['graphql-ws: unread lists', USERS, ENDED, lists, SOCKETS],
  ['graphql-ws: subscriptions', USERS, ENDED, storm, SOCKETS],
  ['channel: joins', ALL, JOINED, (c) => join(c, 1, 'completed=eq.true', 60), SOCKETS],
  ['channel: joins of nothing', ALL, JOINED, (c) => join(c, 0, '', 60), SOCKETS],
  ['channel: filters', ALL, JOINED, (c) => join(c, 100, IN, 200), SOCKETS],
  ['channel: broadcasts and presence', ALL, JOINED, broadcast, SOCKETS],
];
