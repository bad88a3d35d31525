import { RESTORED, valueOf, type Columns, type Statement } from '@taskmesh/database';
import { NEW_CURSOR_KEY } from '../feed/feed.statements.ts';
import { LARGEST_VERSION, TASK_COLUMNS } from './rules.ts';

const ROWS = `from ${RESTORED}.tasks r`;

/** What a dump from anywhere has of a task's columns. A version of no use begins anew, as one that is missing does. */
export function takeOver(columns: Columns): Statement {
  const taken = TASK_COLUMNS.filter(({ column }) => columns.has(column));
  const values = taken.map(({ column, type }) => {
    const value = valueOf(columns, column, type);
    return column === 'version'
      ? `case when ${value} between 1 and ${LARGEST_VERSION} then ${value} else 1 end`
      : value;
  });
  return {
    name: 'adopt-take-over',
    text: `
      with taken as (
        insert into public.tasks (${taken.map(({ column }) => column).join(', ')})
        select ${values.join(', ')} ${ROWS}
        returning 1
      )
      select count(*)::text as count from taken`,
  };
}

/** The epoch of the store that was backed up; 0 when it had none that makes sense. */
export function restoredEpoch(columns: Columns): Statement {
  const epoch = valueOf(columns, 'epoch', 'integer');
  return {
    name: 'adopt-restored-epoch',
    text: `
      select coalesce(max(case when ${epoch} between 1 and ${LARGEST_VERSION} then ${epoch} end), 0) as epoch
      from ${RESTORED}.feed_state r`,
  };
}

/** $1 epoch. The key is a new one already: the migrations made it in this database. */
export const BEGIN_EPOCH: Statement = {
  name: 'adopt-begin-epoch',
  text: 'update public.feed_state set epoch = $1::integer',
};

/** $1 the living store's epoch. Nothing of the earlier epochs is told again. */
export const RESUME: Statement = {
  name: 'adopt-resume',
  text: `
    update public.feed_state set epoch = 1 + greatest(epoch, $1::integer), cursor_key = ${NEW_CURSOR_KEY}`,
};

export const FORGET_CHANGES: Statement = {
  name: 'adopt-forget-changes',
  text: 'truncate public.changes, public.feeds',
};

export const DROP_RESTORED: Statement = { name: 'adopt-drop-restored', text: `drop schema ${RESTORED} cascade` };

/** So that the first reads after the swap are planned with the truth. */
export const ANALYZE: Statement = { name: 'adopt-analyze', text: 'analyze public.tasks' };
