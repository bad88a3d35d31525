// Run with a small heap. Fills a gateway's memory with something that none of its limits counts. See memory.test.ts.
import { setTimeout as sleep } from 'node:timers/promises';
import { startTestGateway } from './fakes/gateway.ts';

const MAX_REQUESTS = 1_000;
const NUMBERS = 512 * 1024; // of eight bytes each

declare const WebAssembly: { Memory: new (size: { initial: number }) => { buffer: ArrayBuffer } };
/** Reserved memory, as a library may have. None of it is used, so memory must not count as short because of it. */
const reserved = new WebAssembly.Memory({ initial: 4_096 });
const kept: number[][] = [];
const gateway = await startTestGateway({
  wrap: (connections) => ({
    ...connections,
    async request(...args) {
      kept.push(new Array<number>(NUMBERS).fill(0.5));
      return connections.request(...args);
    },
  }),
});
const { origin } = gateway;
const token = await gateway.auth.token('a0000000-0000-4000-8000-000000000001');

const ask = async (path: string, { body, accept = 'application/json' }: { body?: object; accept?: string } = {}) => {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json', accept };
  const response = await fetch(origin + path, {
    headers,
    ...(body && { method: 'POST', body: JSON.stringify(body) }),
  });
  await response.body?.cancel();
  return { status: response.status, retryAfter: response.headers.get('retry-after') };
};
const graphql = (query: string, more?: object, accept?: string) =>
  ask('/graphql', { body: { query, ...more }, ...(accept && { accept }) });
const largePage = () => graphql('{ tasks(first: 1000) { edges { node { title } } } }');

/** Of a channel without bindings. */
async function join() {
  const socket = new WebSocket(`${origin.replace('http', 'ws')}/realtime/v1/websocket?apikey=key&vsn=2.0.0`);
  await new Promise((resolve) => socket.addEventListener('open', resolve, { once: true }));
  const answered = new Promise<MessageEvent>((resolve) => socket.addEventListener('message', resolve, { once: true }));
  socket.send(JSON.stringify(['1', '1', 'realtime:tasks', 'phx_join', { config: {}, access_token: token }]));
  const [, , , , { response }] = JSON.parse(String((await answered).data)) as [
    0,
    0,
    0,
    0,
    { response: { reason: string } },
  ];
  socket.close();
  return response.reason;
}

/** The number of requests until the page had this status. */
async function requestsUntil(status: number): Promise<number> {
  for (let count = 1; count <= MAX_REQUESTS; count++) {
    if ((await largePage()).status === status) return count;
    if (status === 200) await sleep(10);
  }
  throw new Error(`No page was a ${status}.`);
}

await requestsUntil(503);
const whileShort = {
  largePages: await Promise.all(Array.from({ length: 30 }, largePage)),
  largePageOfRest: await ask('/api/tasks'),
  largeBody: await graphql('{ __typename }', { padding: 'x'.repeat(100_000) }),
  stream: await graphql('subscription { taskChanges { cursor } }', {}, 'text/event-stream'),
  join: await join(),
  ordinary: await graphql('{ taskStatistics { total } }'),
  ready: await ask('/readyz'),
  health: await ask('/health'),
};
const share = await gateway.figure('taskmesh_gateway_live_memory_ratio');
kept.length = 0;
await requestsUntil(200);
const logged = gateway.logged.filter(({ msg }) => String(msg).startsWith('memory is')).map(({ msg }) => msg);
process.stdout.write(JSON.stringify({ whileShort, share, logged, reservedBytes: reserved.buffer.byteLength }));
await gateway.stop();
