import type { Identity } from '@taskmesh/identity';
import { eventually } from '@taskmesh/testing';
import type { Connections } from '../src/connections/connections.ts';
import { postGraphQL, startTestGateway } from './fakes/gateway.ts';
import { openRaw, rawGraphQL, type RawSocket } from '@taskmesh/testing/raw';
import { holdExecution } from './fakes/tasks.ts';

const ANN = 'a0000000-0000-4000-8000-000000000001';
const BOB = 'a0000000-0000-4000-8000-000000000002';
const MAX_AT_ONCE = 6;
const QUERY = '{ taskStatistics { total } }';
/** A caller behind a proxy is not on this machine, and so no operator. */
const STRANGER = { 'x-forwarded-for': '192.0.2.1' };
const BEHIND_PROXY = { TRUSTED_PROXIES: '127.0.0.1' };

/** How many requests to services over HTTP were attempted. */
let asked = 0;
const wrap = ({ request, ...others }: Connections): Connections => ({
  ...others,
  request: (...args) => (asked++, request(...args)),
});
const gateway = await startTestGateway();
const http = await startTestGateway({ mode: 'http', env: BEHIND_PROXY, wrap });

const isNotBob = (identity: Identity) => identity.role === 'user' && identity.userId !== BOB;
let authorization: string;
let release: () => void;
/** The number of operations that have been held: those of all users but BOB. */
let held: () => number;

beforeEach(async () => {
  authorization = `Bearer ${await gateway.auth.token(ANN)}`;
  ({ release, held } = holdExecution(gateway.tasks, isNotBob));
});
afterEach(() => release());

const get = (path: string) => fetch(`${gateway.origin}${path}`, { headers: { authorization } });

it('limits how many operations of an account run at once over all transports; further ones wait', async () => {
  const ways = [
    async () => (await get('/api/tasks/stats')).status,
    async () => (await postGraphQL(gateway.origin, { query: QUERY }, { authorization })).status,
    async () =>
      (await postGraphQL(gateway.origin, { query: QUERY }, { authorization, accept: 'text/event-stream, */*' })).status,
  ];
  const all = Array.from({ length: MAX_AT_ONCE + 3 }, (_, n) => ways[n % ways.length]?.());
  await eventually(() => expect(held()).toBe(MAX_AT_ONCE));
  const { body } = await gateway.graphql(QUERY, { token: await gateway.auth.token(BOB) });
  expect(body).toEqual({ data: { taskStatistics: { total: 2 } } });
  expect(held()).toBe(MAX_AT_ONCE);
  release();
  for (const status of await Promise.all(all)) expect(status).toBe(200);
  expect(held()).toBe(MAX_AT_ONCE + 3);
});

it('lets a session end ahead of its own operations, and refuses those that still wait then', async () => {
  const send = (query: string) => postGraphQL(gateway.origin, { query }, { authorization });
  const running = Array.from({ length: MAX_AT_ONCE }, () => send(QUERY));
  await eventually(() => expect(held()).toBe(MAX_AT_ONCE));
  const waiting = send('mutation { createTask(input: { title: "Late" }) { id } }');
  expect((await send('mutation { logout }')).body).toEqual({ data: { logout: true } });
  release();
  expect((await waiting).body.errors?.[0]?.extensions['code']).toBe('UNAUTHENTICATED');
  for (const { status } of await Promise.all(running)) expect(status).toBe(200);
  expect(held()).toBe(MAX_AT_ONCE);
});

it("answers a user while strangers' logins occupy all their connections to auth, and lets addresses take turns", async () => {
  asked = 0;
  const arrived: unknown[] = [];
  const firstFour = holdExecution(http.auth, ({ role }) => role === 'anonymous');
  const logins = holdExecution(http.auth, (identity) => identity.role === 'anonymous' && arrived.push(identity.ip) > 4);
  const logIn = (last: number) =>
    http.graphql('mutation { login(input: { email: "a@example.com", password: "wrong" }) { accessToken } }', {
      headers: { 'x-forwarded-for': `192.0.2.${last}` },
    });
  const all = Array.from({ length: 3 * 128 }, (_, at) => logIn(at % 3));
  await eventually(() => expect(arrived).toHaveLength(256));
  const me = await http.graphql('{ me { id } }', { token: await http.auth.token(BOB) });
  expect(me).toMatchObject({ body: { data: { me: { id: BOB } } } }); // behind the logins it would be an error after 10 s
  const later = logIn(9);
  await eventually(() => expect(asked).toBe(3 * 128 + 2));
  await http.graphql('{ me { id } }', { token: await http.auth.token(ANN) }); // until then, the login waits for its turn
  firstFour.release();
  await eventually(() => {
    expect(arrived).toContain('192.0.2.9');
    expect(arrived).toHaveLength(256 + 4);
  });
  logins.release();
  await Promise.all([...all, later]);
});

it.each([
  ["all of that address's connections to tasks", 'tasks', 'another', QUERY],
  ["all of its address's connections to auth, for one to tasks", 'auth', 'its', '{ me { id } }'],
] as const)('answers a user while accounts occupy %s', async (_what, service, whose, query) => {
  const requests = holdExecution(http[service], isNotBob);
  const accounts = await Promise.all(
    Array.from({ length: 48 }, (_, at) => http.auth.token(ANN.replace('-0000-', `-${1_000 + at}-`))),
  );
  const all = accounts.flatMap((token) =>
    Array.from({ length: MAX_AT_ONCE }, () => http.graphql(query, { token, headers: STRANGER })),
  );
  await eventually(() => expect(requests.held()).toBe(128));
  const headers = { authorization: `Bearer ${await http.auth.token(BOB)}`, ...(whose === 'its' && STRANGER) };
  expect((await fetch(`${http.origin}/api/tasks`, { headers })).status).toBe(200);
  expect(requests.held()).toBe(128);
  requests.release();
  await Promise.all(all);
});

it('serves others while many expensive documents arrive at once', async () => {
  const fields = ['id', 'title', 'description', 'completed', 'dueDate', 'category', 'priority'];
  const selection = Array.from({ length: 60 }, (_, at) => fields[at % fields.length]).join(' ');
  const document = (number: number) => {
    const tasks = Array.from({ length: 29 }, (_, at) => `x${number}y${at}: task(id: "${at}") { ${selection} }`);
    return rawGraphQL({ query: `{ ${tasks.join(' ')} }` });
  };
  const requests = Array.from({ length: 60 }, (_, number) => document(number));
  const sockets: RawSocket[] = [];
  for (const request of requests) void openRaw(gateway.origin, request).then((socket) => sockets.push(socket));
  const answered = () => sockets.filter(({ response }) => response !== '').length;
  await eventually(() => expect(answered()).toBeGreaterThan(0), { everyMs: 1 });
  const before = answered();
  expect((await get('/livez')).status).toBe(200);
  expect(answered() - before).toBeLessThan(20);
  await eventually(() => expect(answered()).toBe(60));
});
