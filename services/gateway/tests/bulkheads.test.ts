import { eventually } from '@taskmesh/testing';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { postGraphQL, startTestGateway, type TestGateway } from './fakes/gateway.ts';

const ANN = 'a0000000-0000-4000-8000-000000000001';
const BOB = 'a0000000-0000-4000-8000-000000000002';
const MAX_AT_ONCE = 6;
const QUERY = '{ taskStatistics { total } }';

let gateway: TestGateway;
let authorization: string;
let release: () => void;
/** The number of ANN's operations that are held. */
let held: number;

beforeEach(async () => {
  gateway = await startTestGateway();
  authorization = `Bearer ${await gateway.auth.token(ANN)}`;
  const { promise, resolve } = Promise.withResolvers<void>();
  release = resolve;
  held = 0;
  const { subgraph } = gateway.tasks;
  const { execute } = subgraph;
  subgraph.execute = async (request, call) => {
    if (call.identity.role === 'user' && call.identity.userId === ANN) {
      held++;
      await promise;
    }
    return execute(request, call);
  };
});
afterEach(async () => {
  release();
  await gateway.stop();
});

function send(request: string | Buffer): Socket {
  const socket = connect(Number(new URL(gateway.origin).port), '127.0.0.1');
  socket.write(request);
  return socket;
}

const answerTo = async (socket: Socket) => String((await once(socket, 'data'))[0]);
const get = (path: string) => fetch(`${gateway.origin}${path}`, { headers: { authorization } });

it('limits how many operations of an account run at once over all transports; further ones wait', async () => {
  const ways = [
    async () => (await get('/api/tasks/stats')).status,
    async () => (await postGraphQL(gateway.origin, { query: QUERY }, { authorization })).status,
    async () =>
      (await postGraphQL(gateway.origin, { query: QUERY }, { authorization, accept: 'text/event-stream, */*' })).status,
  ];
  const all = Array.from({ length: MAX_AT_ONCE + 3 }, (_, n) => ways[n % ways.length]?.());
  await eventually(() => expect(held).toBe(MAX_AT_ONCE));
  const { body } = await gateway.graphql(QUERY, { token: await gateway.auth.token(BOB) });
  expect(body).toEqual({ data: { taskStatistics: { total: 2 } } });
  expect(held).toBe(MAX_AT_ONCE);
  release();
  for (const status of await Promise.all(all)) expect(status).toBe(200);
  expect(held).toBe(MAX_AT_ONCE + 3);
});

it('limits the memory of all bodies whose operations run or wait, in their decoded size', async () => {
  const body = gzipSync(JSON.stringify({ query: QUERY, variables: { padding: 'x'.repeat(900_000) } }));
  const head = `POST /graphql HTTP/1.1\r\nHost: x\r\nAuthorization: ${authorization}\r\nContent-Type: application/json\r\n`;
  const asked = Buffer.concat([
    Buffer.from(`${head}Content-Encoding: gzip\r\nContent-Length: ${body.length}\r\n\r\n`),
    body,
  ]);
  let refused = 0;
  const sockets = Array.from({ length: 60 }, () => send(asked));
  const all = sockets.map(async (socket) => {
    if ((await answerTo(socket)).includes('Too many large requests')) refused++;
  });
  await eventually(() => expect(refused).toBeGreaterThanOrEqual(60 - 38));
  expect((await gateway.graphql('{ __typename }')).status).toBe(200);
  release();
  await Promise.all(all);
  const last = send(asked);
  expect(await answerTo(last)).toContain('"total":2');
  for (const socket of [...sockets, last]) socket.destroy();
});

it('serves others while many expensive documents arrive at once', async () => {
  const fields = ['id', 'title', 'description', 'completed', 'dueDate', 'category', 'priority'];
  const selection = Array.from({ length: 60 }, (_, at) => fields[at % fields.length]).join(' ');
  const document = (number: number) => {
    const tasks = Array.from({ length: 29 }, (_, at) => `x${number}y${at}: task(id: "${at}") { ${selection} }`);
    const body = JSON.stringify({ query: `{ ${tasks.join(' ')} }` });
    return `POST /graphql HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
  };
  const requests = Array.from({ length: 60 }, (_, number) => document(number));
  let answered = 0;
  const sockets = requests.map((request) => send(request).once('data', () => answered++));
  await eventually(() => expect(answered).toBeGreaterThan(0));
  const before = answered;
  expect((await get('/livez')).status).toBe(200);
  expect(answered - before).toBeLessThan(20);
  await eventually(() => expect(answered).toBe(60));
  for (const socket of sockets) socket.destroy();
});
