import type { TestDatabase } from '@taskmesh/testing';
import { STATE, TASK_STATES } from '../../src/tasks/task-states.ts';

const COUNTS_DIFFER = TASK_STATES.map(
  ({ column }, state) =>
    `(select count(*) from tasks t where t.user_id = f.owner_id and ${STATE} = ${state}) <> f.${column}`,
);
const KEYS = 'id, category, due_date, created_at, updated_at';
const ofTasks = `select ${STATE} as state, ${KEYS} from tasks where user_id = f.owner_id`;
const ofKeys = `select state, ${KEYS} from task_keys where user_id = f.owner_id`;
const KEYS_DIFFER = `f.keys > 0 and exists ((${ofTasks} except ${ofKeys}) union all (${ofKeys} except ${ofTasks}))`;

/** Owners of whom the store says that it knows their tasks, and says something wrong. */
export async function misjudged(database: TestDatabase): Promise<unknown[]> {
  const rows = await database.query(
    `select owner_id from feeds f where counted = sequence and (${[...COUNTS_DIFFER, KEYS_DIFFER].join(' or ')})`,
  );
  return rows.map((row) => row['owner_id']);
}

/** Owners whose tasks nobody has counted. */
export async function uncounted(database: TestDatabase): Promise<unknown[]> {
  const rows = await database.query(
    'select distinct user_id from tasks t where not exists (select from feeds f where f.owner_id = t.user_id and f.counted = f.sequence)',
  );
  return rows.map((row) => row['user_id']);
}
