import { setTimeout as sleep } from 'node:timers/promises';
import { Client, Pool } from 'undici';
import { combine } from '../figures.ts';
import type { Owner } from './owners.ts';
import { middleOf, OPERATIONS, sender, type Operation } from './requests.ts';
import type { GrowthServer, Taken } from './server.ts';

/** One kind of request of one owner, in one store. Figures are per request. */
export interface RequestCost extends Taken {
  operation: string;
  grows: boolean;
  owner: number;
  store: number;
  requests: number;
}

export interface MeasureRequestsOptions {
  server: GrowthServer;
  owners: readonly Owner[];
  store: number;
  seconds: number;
  signal: AbortSignal;
}

const WARM_UP = 20;
/** More at once than the service has sessions (`POSTGRES_POOL_SIZE`), so that each of them does one. */
const AT_ONCE = 20;

/** Each owner's requests one after the other; the owners take turns at each kind. */
export async function measureRequests(options: MeasureRequestsOptions): Promise<RequestCost[]> {
  const { server, owners, signal } = options;
  const client = new Pool(server.url);
  const costs: RequestCost[] = [];
  const [operation, owner] = [OPERATIONS[0], owners[0]];
  // Sessions also tell the pages of what came before.
  if (operation && owner) await measureOne(operation, owner, client, options);
  for (const operation of OPERATIONS)
    for (const owner of owners) {
      signal.throwIfAborted();
      costs.push(await measureOne(operation, owner, client, options));
    }
  await client.close();
  return costs;
}

async function measureOne(
  operation: Operation,
  owner: Owner,
  client: Pool,
  { server, store, seconds }: MeasureRequestsOptions,
): Promise<RequestCost> {
  const send = sender(client, owner.token);
  const { endCursor } = (JSON.parse(await send(middleOf(owner))) as Middle).data.tasks.pageInfo;
  let n = 0;
  const once = () => send(operation.request(owner, n++, endCursor));
  for (let warm = 0; warm < WARM_UP; warm++) await once();
  const inEachSession = () => Promise.all(Array.from({ length: AT_ONCE }, once));
  let requests = 0;
  const { pages, ...rest } = await server.take(async () => {
    for (const end = performance.now() + seconds * 1_000; performance.now() < end; requests++) await once();
  }, inEachSession);
  const each = { ...combine([rest], ([value = NaN]) => value / requests), pages: pages / (requests + AT_ONCE) };
  return { operation: operation.name, grows: operation.grows ?? false, owner: owner.tasks, store, requests, ...each };
}

interface Middle {
  data: { tasks: { pageInfo: { endCursor: string } } };
}

const TRIES = 120;

/** Until housekeeping, which comes once a minute, has counted who was looked at. */
export async function untilCounted(server: GrowthServer, owners: readonly Owner[], signal: AbortSignal): Promise<void> {
  const client = new Client(server.url);
  for (let tries = 0; tries < TRIES; tries++) {
    signal.throwIfAborted();
    for (const { token } of owners)
      await sender(client, token)({ method: 'GET', path: '/api/tasks/stats', status: 200 });
    if ((await server.uncounted(owners.map(({ id }) => id))) === 0) return client.close();
    await sleep(1_000);
  }
  throw new Error('The owners are not counted after two minutes.');
}
