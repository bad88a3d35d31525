import { databaseOf } from '@taskmesh/store';
import type { Log } from '@taskmesh/service';
import { restoreNames, type RestoreNames } from '../databases/names.ts';
import { fence, withServers, type Server } from '../databases/servers.ts';
import { databaseIds } from '../databases/database-ids.ts';
import { allowConnections, swapBack } from '../databases/swap.ts';
import type { Store, StoreName } from '../databases/store.ts';
import type { Restore } from './restore.entity.ts';
import type { RestoreRepository } from './restore.repository.ts';

/** `undoes`: the restore being undone, if any; its old database is then the fresh one. */
export function namesOf({ adminUrl }: Store, id: string, undoes: string | null = null): RestoreNames {
  const live = databaseOf(adminUrl);
  const names = restoreNames(live, id);
  return undoes === null ? names : { ...names, fresh: restoreNames(live, undoes).old };
}

export interface SettleDeps {
  stores: Record<StoreName, Store>;
  journal: RestoreRepository;
  keepOldMs: number;
  now: () => Date;
  log: Log;
}

type Outcome = 'restored' | 'undone';

/**
 * Completes a restore from the state of the journal and the servers: all stores are replaced, or none. May be repeated
 * until it succeeds.
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
  return outcome ?? settleRestore(deps, id); // its stage has changed meanwhile
}

async function settleOn(servers: Server[], deps: SettleDeps, id: string): Promise<Outcome | undefined> {
  await fence(servers, id);
  const restore = await deps.journal.find(id); // read again: another instance may have worked on it until now
  if (restore.stage === 'restored' || restore.stage === 'undone') return restore.stage;
  const outcome = await settleFenced(deps, restore, servers);
  if (outcome === 'undone' && restore.undoes !== null) await closeKept(restore, servers);
  return end(deps, restore, outcome);
}

async function settleFenced({ log }: SettleDeps, restore: Restore, servers: Server[]): Promise<Outcome> {
  const swapped = await swappedOf(restore, servers);
  if (restore.stage === 'swapping') return swapped.length > 0 ? 'restored' : 'undone';
  // An instance given up for dead may have written "decided" after some stores were already reverted.
  const isDecided = restore.stage === 'decided' && swapped.length === restore.stores.length;
  if (isDecided) {
    for (const { server, names } of swapped) await server.client.query(allowConnections(names.live, true));
    return 'restored';
  }
  for (const server of servers) {
    const names = swapped.filter((one) => one.server === server).map((one) => one.names);
    if (names.length > 0) await swapBack({ client: server.client, url: server.url, names, lockers: new Map(), log });
  }
  return 'undone';
}

/** Closes the databases that were opened to become live again. */
async function closeKept({ id, undoes }: Restore, servers: Server[]): Promise<void> {
  for (const { client, stores } of servers)
    for (const store of stores) {
      const names = namesOf(store, id, undoes);
      const { fresh } = await databaseIds(client, names);
      if (fresh !== undefined) await client.query(allowConnections(names.fresh, false));
    }
}

/** The stores whose live database has the id in the journal; never inferred from what is missing. */
async function swappedOf({ id, undoes, freshIds }: Restore, servers: Server[]) {
  const found = [];
  for (const server of servers)
    for (const store of server.stores) {
      const names = namesOf(store, id, undoes);
      const { live } = await databaseIds(server.client, names);
      if (live !== undefined && live === freshIds[store.name]) found.push({ server, names });
    }
  return found;
}

/** Undefined when the stage has changed meanwhile. */
async function end(
  { journal, keepOldMs, now }: SettleDeps,
  restore: Restore,
  outcome: Outcome,
): Promise<Outcome | undefined> {
  const at = now();
  const kept = outcome === 'restored' ? keepOldMs : 0;
  // A restore whose undo failed is kept as before.
  const leftUntil = outcome === 'undone' && restore.undoes !== null ? null : new Date(at.getTime() + kept);
  return (await journal.end(restore, { stage: outcome, at, leftUntil })) ? outcome : undefined;
}
