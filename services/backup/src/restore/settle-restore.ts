import { settleAll } from '@taskmesh/service';
import { databaseOf } from '@taskmesh/store';
import type { CommonParts } from '../common-parts.ts';
import { maintenanceUrl, withAdmin } from '../databases/connect.ts';
import { DATABASE_TIMEOUTS, dropDatabase, dropFresh } from '../databases/fresh-database.ts';
import { databaseIds, restoreNames, type RestoreNames } from '../databases/names.ts';
import { lockRestore, withServers, type Server } from '../databases/servers.ts';
import type { Store, StoreName } from '../databases/store.ts';
import { allowConnections, swapBack } from '../databases/swap.ts';
import type { Restore } from './restore.entities.ts';
import type { RestoreRepository } from './restore.repository.ts';

/** The names of a restore's databases. If it undoes another restore, the fresh database is the other's old one. */
export function namesOf(
  { adminUrl }: Store,
  { id, undoes = null }: { id: string; undoes?: string | null },
): RestoreNames {
  const live = databaseOf(adminUrl);
  const names = restoreNames(live, id);
  return undoes === null ? names : { ...names, fresh: restoreNames(live, undoes).old };
}

export interface SettleDeps extends Pick<CommonParts, 'stores' | 'keepOldMs' | 'timeouts' | 'now' | 'log'> {
  journal: RestoreRepository;
}

type Outcome = 'restored' | 'undone';

/**
 * Completes a restore, based on the journal and the servers: all stores are replaced, or none. May be repeated until it
 * succeeds.
 */
export async function settleRestore(deps: SettleDeps, id: string): Promise<Outcome> {
  const { journal, stores } = deps;
  const restore = await journal.find(id);
  const { stage, undoes } = restore;
  if (stage === 'restored' || stage === 'undone') return stage;
  const isUntouched = stage === 'loading' && undoes === null;
  const outcome = isUntouched
    ? await end(deps, restore, 'undone')
    : await withServers(
        restore.stores.map((name) => stores[name]),
        (servers) => settleOn(servers, deps, id),
      );
  return outcome ?? settleRestore(deps, id); // the stage has changed meanwhile
}

async function settleOn(servers: Server[], deps: SettleDeps, id: string): Promise<Outcome | undefined> {
  await lockRestore(servers, id);
  const restore = await deps.journal.find(id); // read again: another instance may have worked on it until now
  if (restore.stage === 'restored' || restore.stage === 'undone') return restore.stage;
  const outcome = await settleFenced(deps, restore, servers);
  if (outcome === 'undone' && restore.undoes !== null) await closeKept(restore, servers);
  return end(deps, restore, outcome);
}

async function settleFenced({ timeouts, log }: SettleDeps, restore: Restore, servers: Server[]): Promise<Outcome> {
  const swapped = await swappedOf(restore, servers);
  if (restore.stage === 'swapping') return swapped.length > 0 ? 'restored' : 'undone';
  // An instance that was presumed dead may have written "decided" after some stores were already reverted.
  const isDecided = restore.stage === 'decided' && swapped.length === restore.stores.length;
  if (isDecided) {
    for (const { server, names } of swapped) await server.client.query(allowConnections(names.live, true));
    return 'restored';
  }
  for (const server of servers) {
    const names = swapped.filter((one) => one.server === server).map((one) => one.names);
    const swap = { client: server.client, url: server.url, names, lockers: new Map(), timeouts, log };
    if (names.length > 0) await swapBack(swap);
  }
  return 'undone';
}

/** Closes the databases that were opened to become live again. */
async function closeKept(restore: Restore, servers: Server[]): Promise<void> {
  for (const { server, names } of databasesOf(restore, servers)) {
    const { fresh } = await databaseIds(server.client, names);
    if (fresh !== undefined) await server.client.query(allowConnections(names.fresh, false));
  }
}

/** Returns the stores whose live database has the id in the journal; never inferred from missing databases. */
async function swappedOf(restore: Restore, servers: Server[]) {
  const found = [];
  for (const one of databasesOf(restore, servers)) {
    const { live } = await databaseIds(one.server.client, one.names);
    if (live !== undefined && live === restore.freshIds[one.store.name]) found.push(one);
  }
  return found;
}

/** Each store of a restore, with its server. */
export const databasesOf = (restore: Restore, servers: Server[]) =>
  servers.flatMap((server) => server.stores.map((store) => ({ server, store, names: namesOf(store, restore) })));

/** Returns undefined if the stage has changed meanwhile. */
async function end(deps: SettleDeps, restore: Restore, outcome: Outcome): Promise<Outcome | undefined> {
  const { journal, keepOldMs, now } = deps;
  const at = now();
  const kept = outcome === 'restored' ? keepOldMs : 0;
  // A restore whose undo failed is kept as before.
  const leftUntil = outcome === 'undone' && restore.undoes !== null ? null : new Date(at.getTime() + kept);
  return (await journal.end(restore, { stage: outcome, at, leftUntil })) ? outcome : undefined;
}

/**
 * Drops the databases that a finished restore left: the old ones, or the new ones if they were not used. Databases in use
 * cannot be dropped; they do no harm, and stay in the journal for the next attempt.
 */
export async function dropLeftovers({ stores, journal, log }: SettleDeps, restore: Restore): Promise<boolean> {
  const dropOf = async (name: StoreName): Promise<void> => {
    const { adminUrl } = stores[name];
    const names = namesOf(stores[name], restore);
    if (restore.stage === 'undone') return dropFresh(adminUrl, names);
    await withAdmin(maintenanceUrl(adminUrl), (admin) => dropDatabase(admin, names.old), DATABASE_TIMEOUTS);
  };
  try {
    await settleAll(restore.stores.map(dropOf));
    await journal.leftNothing(restore.id);
    return true;
  } catch (error) {
    log.warn({ err: error, restore: restore.id }, 'databases of an ended restore not removed yet');
    return false;
  }
}
