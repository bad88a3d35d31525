import { conflict } from '@taskmesh/contracts';
import type { OnWorkProgress } from '@taskmesh/internal-api';
import { databaseOf, inDatabase } from '@taskmesh/store';
import type { CommonParts } from '../common-parts.ts';
import { checkLockers, withWritersLockedOut, type LockSessions, type Replaced } from '../databases/lock-writers.ts';
import { databaseIds } from '../databases/names.ts';
import { lockRestore, withServers, type Server } from '../databases/servers.ts';
import { findNewerSchema, type Store, type StoreName } from '../databases/store.ts';
import { allowConnections, swapIn } from '../databases/swap.ts';
import type { Restore } from './restore.entities.ts';
import { databasesOf, dropLeftovers, namesOf, settleRestore, type SettleDeps } from './settle-restore.ts';
import { runOwnerStep } from './watch-database.ts';

/** Enough for millions of sessions, because most have been copied ahead. */
const CARRY_OVER_MS = 5 * 60_000;

type SwapDeps = SettleDeps & Pick<CommonParts, 'acceptsNewerSchema'>;

export interface StoresSwap {
  restore: Restore;
  /** Called right before the first statement that may replace something. */
  onAttempt: () => void;
}

/**
 * Replaces the live stores with the prepared ones, all or none. Stores on one server are swapped in one transaction. On
 * several servers, the new databases stay closed until all are swapped, and writing "decided" to the journal is the
 * commit: until then, everything can be reverted without loss.
 * @throws Error when the outcome has to be determined from the servers
 */
export async function swapStores(deps: SwapDeps, { restore, onAttempt }: StoresSwap): Promise<void> {
  const { timeouts, acceptsNewerSchema, journal, log } = deps;
  const stores = restore.stores.map((name) => deps.stores[name]);
  await withServers(stores, async (servers) => {
    await lockRestore(servers, restore.id);
    const databases = databasesOf(restore, servers);
    const freshIds: Restore['freshIds'] = {};
    for (const { server, store, names } of databases) {
      freshIds[store.name] = (await databaseIds(server.client, names)).fresh;
      if (freshIds[store.name] === undefined)
        throw new Error(`The database that is to become the store of ${store.name} no longer exists.`);
    }
    const areOnSeveralServers = servers.length > 1;
    const exchange = async (lockers: LockSessions<StoreName>) => {
      for (const store of stores) await carryOver(restore, store);
      for (const { store, names } of acceptsNewerSchema ? [] : databases) {
        const obstacle = await findNewerSchema(store, names.fresh);
        if (obstacle !== undefined) throw conflict(`The store ${store.name} is not replaced: ${obstacle}.`);
      }
      await checkLockers(lockers);
      await journal.reach(restore.id, { stage: areOnSeveralServers ? 'swapping-apart' : 'swapping', freshIds });
      onAttempt();
      if (areOnSeveralServers)
        for (const { server, names } of databases) await server.client.query(allowConnections(names.fresh, false));
      for (const server of servers) {
        const { client, url } = server;
        const names = server.stores.map((store) => namesOf(store, restore));
        const swap = { client, url, names, lockers: lockersOf(server, lockers), timeouts, log };
        await swapIn(swap, { open: !areOnSeveralServers });
      }
    };
    await withWritersLockedOut(lockable(restore, stores), exchange, timeouts);
    if (!areOnSeveralServers) return;
    await journal.reach(restore.id, { stage: 'decided' });
    for (const { server, names } of databases) await server.client.query(allowConnections(names.live, true));
  });
}

/** Blocks writers while it runs. */
async function carryOver(restore: Restore, store: Store): Promise<void> {
  const { owner, adminUrl } = store;
  const { fresh } = namesOf(store, restore);
  const step = () => owner.carryOver?.(fresh) ?? Promise.resolve();
  await runOwnerStep(adminUrl, fresh, step, { timeoutMs: CARRY_OVER_MS, stallMs: CARRY_OVER_MS });
}

/** Selects the stores with data to carry over. The others need no lock against writers: their data are replaced anyway. */
function lockable(restore: Restore, stores: Store[]): Map<StoreName, Replaced> {
  const carriedOver = stores.filter(({ owner }) => owner.carryOver);
  const replacedOf = (store: Store): Replaced => ({
    live: store.adminUrl,
    fresh: inDatabase(store.adminUrl, namesOf(store, restore).fresh),
  });
  return new Map(carriedOver.map((store) => [store.name, replacedOf(store)]));
}

/** Returns a server's lockers by live database. */
function lockersOf({ stores }: Server, lockers: LockSessions<StoreName>): LockSessions {
  const own = stores.flatMap(({ name, adminUrl }) => {
    const locker = lockers.get(name);
    return locker ? [[databaseOf(adminUrl), locker] as const] : [];
  });
  return new Map(own);
}

export type ExchangeDeps = SwapDeps & Pick<CommonParts, 'onUnsettled' | 'loadLimits'>;

export interface Exchange {
  restore: Restore;
  /** Creates the databases that will replace the live ones. */
  prepare: () => Promise<void>;
  /** Runs as late as possible, after all other slow steps. */
  beforeSwap?: (() => Promise<void>) | undefined;
  /** Resolves with false if another instance may be restoring by now. */
  mayContinue: () => Promise<boolean>;
  onProgress: OnWorkProgress;
}

export interface Leftovers {
  isCleanUpPending: boolean;
  /** An undo is possible until then; null if nothing is kept, absent if unknown. */
  keptUntil?: Date | null;
}

const UNKNOWN: Leftovers = { isCleanUpPending: true };

/** It is not known yet whether the stores were replaced; this is settled in the background. */
export class UnknownOutcomeError extends Error {
  override readonly name = 'UnknownOutcomeError';
}

/**
 * Replaces live stores with others, all or none. The result always agrees with what a restart would settle on.
 * @throws UnknownOutcomeError; any other error when the live stores are unchanged
 */
export async function exchangeStores(deps: ExchangeDeps, exchange: Exchange): Promise<Leftovers> {
  const { journal, log, onUnsettled } = deps;
  const { id, file } = exchange.restore;
  await journal.begin(exchange.restore);
  const { reached, failure } = await tryExchange(deps, exchange);
  const outcome = await settle(deps, id);
  log.info({ restore: id, file, reached, outcome }, 'restore ended');
  const left = outcome === undefined ? UNKNOWN : await cleanUp(deps, id);
  onUnsettled(); // schedules the removal of databases that are kept or left
  if (outcome === undefined && reached === 'attempted')
    throw new UnknownOutcomeError('It is not known yet whether the stores were replaced.', { cause: failure });
  const isRestored = outcome === undefined ? reached === 'replaced' : outcome === 'restored';
  if (!isRestored) throw failure ?? new Error('The restore was undone.');
  if (failure !== undefined) log.warn({ err: failure, restore: id }, 'the stores were replaced all the same');
  return left;
}

/** `attempted`: it is unknown whether anything was replaced. */
type Reached = 'untouched' | 'attempted' | 'replaced';

async function tryExchange(deps: ExchangeDeps, exchange: Exchange): Promise<{ reached: Reached; failure?: unknown }> {
  const { restore, prepare, mayContinue, onProgress } = exchange;
  const stores = restore.stores.map((name) => deps.stores[name]);
  let reached: Reached = 'untouched';
  const copyAhead = async () => {
    for (const store of stores) await prepareCarryOver(deps, restore, store);
  };
  try {
    await prepare();
    await copyAhead();
    if (exchange.beforeSwap) {
      await exchange.beforeSwap();
      await copyAhead(); // what has changed meanwhile
    }
    if (!(await mayContinue())) throw new Error('The lock on restores was lost.');
    onProgress({ phase: 'swap' });
    await swapStores(deps, { restore, onAttempt: () => (reached = 'attempted') });
    return { reached: 'replaced' };
  } catch (failure) {
    return { reached, failure };
  }
}

/** Data copied now need not be copied while writers wait. An auth of an earlier version cannot do this; writers then wait longer. */
async function prepareCarryOver({ log, loadLimits }: ExchangeDeps, restore: Restore, store: Store): Promise<void> {
  const { owner, adminUrl, name } = store;
  const { fresh } = namesOf(store, restore);
  const step = () => owner.carryOverAhead?.(fresh) ?? Promise.resolve();
  await runOwnerStep(adminUrl, fresh, step, loadLimits).catch((err: unknown) =>
    log.warn({ err, store: name }, 'nothing was carried over ahead'),
  );
}

/** Returns undefined if settling is impossible now; the journal keeps the restore until the servers are back. */
async function settle(deps: ExchangeDeps, id: string): Promise<'restored' | 'undone' | undefined> {
  try {
    return await settleRestore(deps, id);
  } catch (error) {
    deps.log.error({ err: error, restore: id }, 'restore not settled yet');
    return undefined;
  }
}

async function cleanUp(deps: ExchangeDeps, id: string): Promise<Leftovers> {
  try {
    const restore = await deps.journal.find(id);
    // An instance that took over may have removed only the databases that existed at that time.
    const isOurs = restore.stage === 'undone' && restore.undoes === null;
    const isDue = isOurs || (restore.leftUntil && restore.leftUntil <= deps.now());
    return isDue
      ? { isCleanUpPending: !(await dropLeftovers(deps, restore)), keptUntil: null }
      : { isCleanUpPending: false, keptUntil: restore.leftUntil ?? null };
  } catch (error) {
    deps.log.warn({ err: error, restore: id }, 'databases of an ended restore not removed yet');
    return UNKNOWN;
  }
}
