import { epochAt } from '@taskmesh/change-log';
import type { Database } from '@taskmesh/database';
import { NEW_EPOCH } from './account-log.statements.ts';

/** For a database that was reset by other means: readers with a position in the former log start from the beginning. */
export async function beginNewAccountEpoch(database: Pick<Database, 'run'>, nowMs: number): Promise<number> {
  const [state] = await database.run<{ epoch: number }>('write', NEW_EPOCH, [epochAt(nowMs)]);
  if (!state) throw new Error('The store has no state of its account log.');
  return state.epoch;
}
