import type { Log } from '@taskmesh/service';
import { dropLeft } from './left-databases.ts';
import { versionsOf } from '../databases/schema-version.ts';
import type { Restore } from './restore.entity.ts';
import { settleRestore, type SettleDeps } from './settle-restore.ts';
import { swapStores } from './swap-stores.ts';

export interface ExchangeDeps extends SettleDeps {
  log: Log;
  /** Called when something has to be settled or removed, now or later. */
  onUnsettled: () => void;
}

export interface Exchange {
  restore: Restore;
  /** Creates the databases that will replace the live ones. */
  prepare: () => Promise<void>;
  /** Resolves with false when another instance may be restoring by now. */
  mayGoOn: () => Promise<boolean>;
  onSwap: () => void;
}

export interface Left {
  isCleanUpPending: boolean;
  /** An undo is possible until then; null when nothing is kept, absent when unknown. */
  keptUntil?: Date | null;
}

const UNKNOWN: Left = { isCleanUpPending: true };

/** It is unknown whether the stores were replaced; this is settled in the background. */
export class UnknownOutcomeError extends Error {
  override readonly name = 'UnknownOutcomeError';
}

/**
 * Replaces live stores by others, all or none. The result always agrees with what a restart would make of it.
 * @throws UnknownOutcomeError; any other error when the live stores are unchanged
 */
export async function exchangeStores(deps: ExchangeDeps, exchange: Exchange): Promise<Left> {
  const { journal, log, onUnsettled } = deps;
  const { id, file } = exchange.restore;
  await journal.begin(exchange.restore);
  const { reached, failure } = await tryExchange(deps, exchange);
  const outcome = await settle(deps, id);
  log.info({ restore: id, file, reached, outcome }, 'restore ended');
  const left = outcome === undefined ? UNKNOWN : await cleanUp(deps, id);
  onUnsettled(); // schedules the removal of what is kept or left
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
  const { restore, prepare, mayGoOn, onSwap } = exchange;
  const stores = restore.stores.map((name) => deps.stores[name]);
  let reached: Reached = 'untouched';
  try {
    const versions = await versionsOf(stores);
    await prepare();
    if (!(await mayGoOn())) throw new Error('The lock on restores was lost.');
    onSwap();
    await swapStores({
      restore,
      stores,
      versions,
      journal: deps.journal,
      log: deps.log,
      onAttempt: () => (reached = 'attempted'),
    });
    return { reached: 'replaced' };
  } catch (failure) {
    return { reached, failure };
  }
}

/** Undefined when that is impossible now: the journal remembers it until the servers are back. */
async function settle(deps: ExchangeDeps, id: string): Promise<'restored' | 'undone' | undefined> {
  try {
    return await settleRestore(deps, id);
  } catch (error) {
    deps.log.error({ err: error, restore: id }, 'restore not settled yet');
    return undefined;
  }
}

async function cleanUp(deps: ExchangeDeps, id: string): Promise<Left> {
  try {
    const restore = await deps.journal.find(id);
    // An instance that took over may have removed only what existed at that time.
    const isOurs = restore.stage === 'undone' && restore.undoes === null;
    const isDue = isOurs || (restore.leftUntil && restore.leftUntil <= deps.now());
    return isDue
      ? { isCleanUpPending: !(await dropLeft(deps, restore)), keptUntil: null }
      : { isCleanUpPending: false, keptUntil: restore.leftUntil ?? null };
  } catch (error) {
    deps.log.warn({ err: error, restore: id }, 'databases of an ended restore not removed yet');
    return UNKNOWN;
  }
}
