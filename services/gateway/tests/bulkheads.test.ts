import { eventually } from '@taskmesh/testing';
import { ask, startTestGateway, type TestGateway } from './fakes/gateway.ts';

const ANN = 'a0000000-0000-4000-8000-000000000001';
const BOB = 'a0000000-0000-4000-8000-000000000002';
const MAX_AT_ONCE = 16;
const MAX_WAITING = 200;
const QUERY = '{ taskStatistics { total } }';

let gateway: TestGateway;
let authorization: string;
let release: () => void;
/** Of ANN's operations. */
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

const get = (path: string) => fetch(`${gateway.origin}${path}`, { headers: { authorization } });
/** As REST, GraphQL, and GraphQL that may be streamed. */
const ways = [
  async () => (await get('/api/tasks/stats')).status,
  async () => (await ask(gateway.origin, { query: QUERY }, { authorization })).status,
  async () => (await ask(gateway.origin, { query: QUERY }, { authorization, accept: 'text/event-stream, */*' })).status,
];
const start = (count: number) => Array.from({ length: count }, (_, n) => ways[n % ways.length]?.());

it('runs a bounded number of operations of an account at once, over all transports; the next ones wait', async () => {
  const first = start(MAX_AT_ONCE + 30);
  await eventually(() => expect(held).toBe(MAX_AT_ONCE));
  const { body } = await gateway.graphql(QUERY, { token: await gateway.auth.token(BOB) });
  expect(body).toEqual({ data: { taskStatistics: { total: 2 } } });
  expect(held).toBe(MAX_AT_ONCE);
  release();
  for (const status of await Promise.all(first)) expect(status).toBe(200);
  expect(held).toBe(MAX_AT_ONCE + 30);
});

it('refuses with RATE_LIMITED (429) what would wait behind too many others of the account', async () => {
  const statuses: unknown[] = [];
  const all = start(MAX_AT_ONCE + MAX_WAITING + 3).map(async (status) => statuses.push(await status));
  await eventually(() => expect(statuses).toEqual([429, 429, 429]));
  const overRest = await get('/api/tasks');
  expect([overRest.status, overRest.headers.get('retry-after')]).toEqual([429, '1']);
  expect(await overRest.json()).toMatchObject({ success: false, error: { code: 'RATE_LIMITED' } });
  const overGraphQL = await ask(gateway.origin, { query: QUERY }, { authorization });
  expect([overGraphQL.status, overGraphQL.headers.get('retry-after')]).toEqual([429, '1']);
  expect(overGraphQL.body).toMatchObject({
    data: null,
    errors: [{ extensions: { code: 'RATE_LIMITED', retryAfterSeconds: 1 } }],
  });
  expect(held).toBe(MAX_AT_ONCE);
  release();
  await Promise.all(all);
  expect(statuses.filter((status) => status === 200)).toHaveLength(MAX_AT_ONCE + MAX_WAITING);
});
