import { scannedTables, schemaDifference, statementsOf } from '@taskmesh/store/testing';
import { createTasksDatabase } from '../src/database.ts';
import * as feed from '../src/feed/feed.statements.ts';
import * as owners from '../src/owners/owner.statements.ts';
import * as deadLetters from '../src/relay/dead-letter.statements.ts';
import * as relay from '../src/relay/relay.statements.ts';
import { listStatement } from '../src/tasks/list.statements.ts';
import * as tasks from '../src/tasks/task.statements.ts';

it('the entities describe their tables as the migrations create them', async () =>
  expect(await schemaDifference(createTasksDatabase)).toBe(''));

const lists = (['CREATED_AT', 'UPDATED_AT', 'DUE_DATE', 'PRIORITY'] as const).flatMap((field) =>
  [{}, { completed: true }].map((filter) => {
    const request = { ownerId: '', filter, order: { field, direction: 'DESC' } as const, limit: 1, offset: 0 };
    return listStatement({ ...request, after: [], withTotal: false, withHead: true, withPrevious: true }).statement;
  }),
);

/** Tables with a single row. */
const SINGLE_ROW = ['feed_state', 'account_position', 'changes_id_seq'];
/**
 * Statements that may scan a table. A scrape counts pending owner deletions and dead letters. Housekeeping reads each owner's row
 * once a minute.
 */
const FULL_SCANS = {
  'feed-forget-surplus': ['feeds'],
  'owners-backlog': ['closed_owners'],
  'dead-letters-note-unreadable': ['dead_letters'],
  'dead-letters-count': ['dead_letters'],
};

it('no other statement planned in an empty store scans a growing table', async () => {
  const statements = [...statementsOf(tasks, feed, relay, deadLetters, owners), ...lists];
  expect(statements.length).toBeGreaterThan(40);
  expect(await scannedTables(createTasksDatabase, { statements, small: SINGLE_ROW })).toEqual(FULL_SCANS);
});
