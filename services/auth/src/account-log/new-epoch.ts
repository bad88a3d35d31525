import type { Database } from '@taskmesh/database';
import { NEW_EPOCH } from './account-log.statements.ts';

const FIRST_MS = Date.parse('2026-01-01T00:00Z');
/** Far below the type's maximum, which is some decades further. */
const LARGEST = 2_000_000_000;

/**
 * For a database that was reset by other means: readers with a position in the former log start from the beginning. Like the
 * feed's epochs, this one follows the clock, so that it never repeats an epoch that was lost in the reset.
 */
export async function beginNewAccountEpoch(database: Pick<Database, 'run'>, nowMs: number): Promise<number> {
  const seconds = Math.min(Math.floor((nowMs - FIRST_MS) / 1_000), LARGEST);
  const [state] = await database.run<{ epoch: number }>('write', NEW_EPOCH, [seconds]);
  if (!state) throw new Error('The store has no state of its account log.');
  return state.epoch;
}
