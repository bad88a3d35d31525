import type { RestoreEnd } from '@taskmesh/internal-api';
import type { Skipped } from '@taskmesh/pg-rows';
import type { StoreName } from '../databases/store.ts';
import type { Restore } from './restore.entities.ts';
import type { Leftovers } from './swap-stores.ts';

/** How a restore or an undo ended, as specified for the REST endpoint; GraphQL returns the same. */
export interface RestoreResult extends RestoreEnd {
  skipped: Skipped[];
  safetyBackup: string | null;
  databaseRestored: boolean;
}

type Refusal = Exclude<RestoreEnd['outcome'], 'RESTORED' | 'RESTORED_CLEAN_UP_PENDING' | 'PROCESSED'>;

const ERRORS: Partial<Record<Refusal, string>> = {
  FILE_MISSING: 'The name of a backup file is needed.',
  FILE_OUTSIDE: 'The file lies outside of the backups directory.',
  FILE_NOT_FOUND: 'There is no such backup file.',
  UNKNOWN: 'A server was lost at the moment of the swap: whether the database was restored is not known yet. Taskmesh finds out in the background (see the log); then all stores are replaced, or none.',
  NOTHING_TO_UNDO: 'There is no restore whose former stores are still kept.',
  OTHER_RESTORE: 'Nothing was undone: another restore is the last one now. Check again which one can be undone.',
  BUSY: 'Another restore is running; try again later.',
}; // prettier-ignore

const NOTHING = { error: null, databaseRestored: false, skipped: [], dropped: [], safetyBackup: null, keptUntil: null };

/** `error` explains the outcome. */
export function refused(outcome: Refusal, error = ERRORS[outcome] ?? '', safetyBackup: string | null = null) {
  const message = outcome === 'UNKNOWN' ? 'Not known yet.' : 'Backup not restored.';
  return { ...NOTHING, success: false, message, error, outcome, safetyBackup } satisfies RestoreResult;
}

/** The archive was extracted, but the stores are unchanged. `reason` is part of a sentence. */
export function processed(reason: string, safetyBackup: string | null) {
  const message = `Archive processed: the database was not restored (${reason}). No restart is needed.`;
  return { ...NOTHING, success: true, message, outcome: 'PROCESSED', safetyBackup } satisfies RestoreResult;
}

const RESTORED = 'Database restored; the application may need a restart.';
const ONE_STORE: Record<StoreName, string> = {
  tasks: 'Only the store tasks was replaced: tasks of accounts that no longer exist are visible to no one.',
  auth: 'Only the store auth was replaced: tasks of accounts that no longer exist are kept, visible to no one.',
};
const PENDING = 'Some of the replaced data could not be removed yet; the removal continues in the background.';

interface Restored extends Leftovers, Pick<RestoreResult, 'skipped' | 'dropped' | 'safetyBackup'> {
  /** The only restored store, if the archive has more. */
  onlyStore: StoreName | undefined;
}

export function restored({ skipped, dropped, safetyBackup, onlyStore, ...left }: Restored): RestoreResult {
  const message = [RESTORED, onlyStore && ONE_STORE[onlyStore]].filter(Boolean).join(' ');
  return { ...replaced(left, message), skipped: byKind(skipped), dropped, safetyBackup };
}

/** The restore in the second argument was undone. */
export function undone(left: Leftovers, { file, endedAt, undoes }: Restore): RestoreResult {
  const { keptUntil } = left;
  const what = `the ${undoes === null ? 'restore' : 'undo of a restore'} of ${file} from ${endedAt?.toISOString()}`;
  if (keptUntil === undefined) return replaced(left, `Undone: ${what}.`);
  const kept = keptUntil
    ? `What the undo replaced is kept until ${keptUntil.toISOString()}: another undo brings it back.`
    : 'What the undo replaced is not kept: it cannot be undone.';
  return replaced(left, `Undone: ${what}. ${kept}`);
}

function replaced({ isCleanUpPending, keptUntil }: Leftovers, message: string): RestoreResult {
  return {
    ...NOTHING,
    success: true,
    message: isCleanUpPending ? `${message} ${PENDING}` : message,
    databaseRestored: true,
    outcome: isCleanUpPending ? 'RESTORED_CLEAN_UP_PENDING' : 'RESTORED',
    keptUntil: keptUntil && keptUntil.toISOString(),
  };
}

/** Adds up the counts of several stores' dumps. */
export function byKind(skipped: Skipped[]): Skipped[] {
  const counts = new Map<string, number>();
  for (const { kind, count } of skipped) counts.set(kind, (counts.get(kind) ?? 0) + count);
  return [...counts].map(([kind, count]) => ({ kind, count }));
}
