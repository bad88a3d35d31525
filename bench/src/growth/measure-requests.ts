import { Pool } from 'undici';
import { combine } from '../figures.ts';
import type { Owner } from './owners.ts';
import { middleOf, OPERATIONS, sender, STATISTICS } from './requests.ts';
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
/** More at once than the service has sessions (10), so that each of them does one. */
const AT_ONCE = 20;

/** Each owner's requests one after the other; the owners take turns at each kind. */
export async function measureRequests(options: MeasureRequestsOptions): Promise<RequestCost[]> {
  const { server, owners, store, seconds, signal } = options;
  const client = new Pool(server.url);
  const senders: Sender[] = [];
  for (const owner of owners) senders.push(await openSender(client, owner));
  const inEachSession = () => Promise.all(Array.from({ length: AT_ONCE }, () => senders[0]?.send(STATISTICS)));
  const nothing = async () => {};
  // Sessions tell the pages of what came before; behind that, only of what makes them tell.
  await server.take(nothing, inEachSession);
  const { pages: telling } = await server.take(nothing, inEachSession);

  const costs: RequestCost[] = [];
  for (const operation of OPERATIONS)
    for (const { owner, send, cursor } of senders) {
      signal.throwIfAborted();
      let sent = 0;
      const once = () => send(operation.request(owner, sent++, cursor));
      while (sent < WARM_UP) await once();
      const { pages, ...rest } = await server.take(async () => {
        for (const end = performance.now() + seconds * 1_000; performance.now() < end;) await once();
      }, inEachSession);
      const requests = sent - WARM_UP;
      const each = { ...combine([rest], ([value = NaN]) => value / requests), pages: (pages - telling) / sent };
      const what = { operation: operation.name, grows: operation.grows ?? false, owner: owner.tasks, store };
      costs.push({ ...what, requests, ...each });
    }
  await client.close();
  return costs;
}

interface Sender {
  owner: Owner;
  send: ReturnType<typeof sender>;
  /** The middle of the owner's tasks, by due date. */
  cursor: string;
}

async function openSender(client: Pool, owner: Owner): Promise<Sender> {
  const send = sender(client, owner.token);
  const { data } = JSON.parse(await send(middleOf(owner))) as Middle;
  return { owner, send, cursor: data.tasks.pageInfo.endCursor };
}

interface Middle {
  data: { tasks: { pageInfo: { endCursor: string } } };
}
