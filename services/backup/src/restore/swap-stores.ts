import { databaseOf, inDatabase } from '@taskmesh/store';
import { withDeadline, type Log } from '@taskmesh/service';
import { fence, withServers, type Server } from '../databases/servers.ts';
import { databaseIds } from '../databases/database-ids.ts';
import { allowConnections, swapIn } from '../databases/swap.ts';
import { checkLockers, withWritersOut, type Lockers, type Replaced } from '../databases/lock-writers.ts';
import type { Store, StoreName } from '../databases/store.ts';
import { refuseMigrated, type SchemaVersions } from '../databases/schema-version.ts';
import type { Restore } from './restore.entity.ts';
import type { RestoreRepository } from './restore.repository.ts';
import { TooSlowError } from '../stall-detection.ts';
import { namesOf } from './settle-restore.ts';

/** Enough for some two million sessions. */
const CARRY_OVER_MS = 5 * 60_000;

export interface StoresSwap {
  restore: Restore;
  stores: Store[];
  /** Of the live stores when the others were begun. */
  versions: SchemaVersions;
  journal: RestoreRepository;
  log: Log;
  /** Called right before the first statement that may replace something. */
  onAttempt: () => void;
}

/**
 * Replaces the live stores by the prepared ones, all or none. Stores on one server are swapped in one transaction. With
 * several servers the new databases stay closed until all are swapped, and the journal's "decided" is the commit: until
 * then everything can be reverted without loss.
 * @throws Error when the outcome has to be determined from the servers
 */
export async function swapStores(swap: StoresSwap): Promise<void> {
  const { restore, stores, versions, journal, onAttempt } = swap;
  const { id, undoes } = restore;
  await withServers(stores, async (servers) => {
    await fence(servers, id);
    const freshIds = await freshIdsOf(restore, servers);
    const isApart = servers.length > 1;
    await withWritersOut(lockable(swap), async (lockers) => {
      for (const store of stores) await carryOver(store, namesOf(store, id, undoes).fresh);
      await refuseMigrated(stores, versions);
      await checkLockers(lockers);
      await journal.reach(id, { stage: isApart ? 'swapping-apart' : 'swapping', freshIds });
      onAttempt();
      if (isApart)
        await forEachStore(servers, ({ client }, store) =>
          client.query(allowConnections(namesOf(store, id, undoes).fresh, false)),
        );
      for (const server of servers) await swapServer(swap, server, { lockers, open: !isApart });
    });
    if (!isApart) return;
    await journal.reach(id, { stage: 'decided' });
    await forEachStore(servers, ({ client }, { adminUrl }) =>
      client.query(allowConnections(databaseOf(adminUrl), true)),
    );
  });
}

/** Writers wait meanwhile. */
async function carryOver({ owner, name }: Store, fresh: string): Promise<void> {
  const late = () => new TooSlowError(`What has to be carried over to the new store of ${name} takes too long.`);
  await withDeadline(owner.carryOver?.(fresh) ?? Promise.resolve(), CARRY_OVER_MS, late);
}

async function forEachStore(
  servers: Server[],
  work: (server: Server, store: Store) => Promise<unknown>,
): Promise<void> {
  for (const server of servers) for (const store of server.stores) await work(server, store);
}

/** Only stores with data to carry over lock writers out: everything else is replaced anyway. */
function lockable({ restore: { id, undoes }, stores }: StoresSwap): Map<StoreName, Replaced> {
  const carriedOver = stores.filter(({ owner }) => owner.carryOver);
  const replacedOf = (store: Store): Replaced => ({
    live: store.adminUrl,
    fresh: inDatabase(store.adminUrl, namesOf(store, id, undoes).fresh),
  });
  return new Map(carriedOver.map((store) => [store.name, replacedOf(store)]));
}

async function freshIdsOf({ id, undoes }: Restore, servers: Server[]): Promise<Restore['freshIds']> {
  const ids: Restore['freshIds'] = {};
  await forEachStore(servers, async ({ client }, store) => {
    const { fresh } = await databaseIds(client, namesOf(store, id, undoes));
    if (fresh === undefined) throw new Error(`The database that is to become the store of ${store.name} is gone.`);
    ids[store.name] = fresh;
  });
  return ids;
}

async function swapServer(
  { restore: { id, undoes }, log }: StoresSwap,
  { client, url, stores }: Server,
  { lockers, open }: { lockers: Lockers<StoreName>; open: boolean },
): Promise<void> {
  const ofServer = stores.flatMap(({ name, adminUrl }) => {
    const locker = lockers.get(name);
    return locker ? [[databaseOf(adminUrl), locker] as const] : [];
  });
  const names = stores.map((store) => namesOf(store, id, undoes));
  await swapIn({ client, url, names, lockers: new Map(ofServer), log }, { open });
}
