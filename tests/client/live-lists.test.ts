import { createClient, createMemoryStorage, type Client, type LiveTasks } from '@taskmesh/client';
import { createFaultyProxy, eventually, type FaultyProxy } from '@taskmesh/testing';
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { createGraphql, createRest } from '../clients/http.ts';
import { createRandom } from '../faults/random.ts';
import { startProduct, type Product } from '../product/start-product.ts';

/** How long the network misbehaves. */
const TROUBLE_MS = 6_000;
/** From the last cut until every list is as the server has it. */
const EQUAL_WITHIN_MS = 2_000;
const SEED = 17;
const PASSWORD = 'correct horse battery staple';

let product: Product;
beforeAll(async () => {
  product = await startProduct('start', { CORS_ORIGINS: 'http://127.0.0.1:1' });
}, 120_000);
afterAll(() => product.stop(), 30_000);

interface Device {
  client: Client;
  list: LiveTasks;
  network: FaultyProxy;
  close(): Promise<void>;
}

async function createDevice(transport: 'graphql-ws' | 'sse'): Promise<Device> {
  const { hostname: host, port } = new URL(product.url);
  const network = await createFaultyProxy({ host, port: Number(port) });
  const client = createClient({
    url: `http://${network.host}:${network.port}`,
    transport,
    storage: createMemoryStorage(),
    timeoutMs: 2_000,
  });
  const list = client.liveTasks({ orderBy: { field: 'UPDATED_AT', direction: 'DESC' }, first: 1_000 });
  const stop = list.subscribe(() => {});
  return {
    client,
    list,
    network,
    async close() {
      stop();
      client.close();
      await network.close();
    },
  };
}

const newAccount = () => ({ email: `${randomUUID()}@example.com`, password: PASSWORD });
const shown = ({ list }: Device) => list.get().tasks.map(({ id, title, version }) => ({ id, title, version }));

/** The list as somebody reads it who has no client. */
async function readList(account: { email: string; password: string }) {
  const rest = createRest(product.url);
  const { body } = await rest<{ access_token: string }>('POST', '/auth/login', { body: account });
  const query = `{ tasks(first: 1000, orderBy: { field: UPDATED_AT, direction: DESC }) { edges { node { id title version } } } }`;
  const { data } = await createGraphql(product.url)<{
    tasks: { edges: { node: { id: string; title: string; version: number } }[] };
  }>(query, { token: body.access_token });
  return data.tasks.edges.map(({ node }) => node);
}

describe.each(['graphql-ws', 'sse'] as const)('lists over %s', (transport) => {
  const devices: Device[] = [];
  const device = async () => {
    const made = await createDevice(transport);
    devices.push(made);
    return made;
  };
  afterEach(async () => {
    for (const each of devices.splice(0)) await each.close();
  });

  it('are equal on all devices soon after the last cut, with every task that was created, once', async () => {
    const account = newAccount();
    const all = [await device(), await device(), await device()];
    const [first] = all as [Device, ...Device[]];
    await first.client.signUp({ ...account, name: 'Ada' });
    for (const { client } of all.slice(1)) await client.signIn(account);
    for (const { list } of all) await eventually(() => expect(list.get().status).toBe('live'));

    const random = createRandom(SEED);
    const created: string[] = [];
    const writes: Promise<unknown>[] = [];
    const refused: unknown[] = [];
    const until = performance.now() + TROUBLE_MS;
    const write = async ({ client, list }: Device) => {
      while (performance.now() < until) {
        const { tasks } = list.get();
        const task = tasks[Math.floor(random() * tasks.length)];
        if (!task || random() < 0.5) {
          const title = `task ${created.length}`;
          created.push(title);
          writes.push(client.createTask({ title }));
        } else {
          const changed = client.updateTask(task.id, { completed: random() < 0.5 });
          writes.push(changed.catch((error: unknown) => refused.push(error)));
        }
        await sleep(20 + random() * 60);
      }
    };
    const disturb = async ({ network }: Device) => {
      while (performance.now() < until) {
        await sleep(random() * 800);
        if (random() < 0.3) network.strand();
        await network.cut();
        await sleep(random() * 300);
        await network.restore();
      }
    };
    await Promise.all(all.flatMap((each) => [write(each), disturb(each)]));

    const lastCut = performance.now();
    await Promise.all(writes);
    const doneMs = performance.now() - lastCut;
    const expected = await readList(account);
    await eventually(() => {
      for (const each of all) expect(shown(each)).toEqual(expected);
    });
    expect(refused).toEqual([]);
    expect(expected.map(({ title }) => title).toSorted()).toEqual(created.toSorted());
    for (const { list } of all) expect(list.get().tasks.some(({ isPending }) => isPending)).toBe(false);
    console.log(
      `${transport}: ${created.length} tasks, ${writes.length} writes, ${all.map(({ network }) => network.connections()).join(', ')} connections; ` +
        `written ${Math.round(doneMs)} ms after the last cut, equal after ${Math.round(performance.now() - lastCut)} ms`,
    );
  });
});
