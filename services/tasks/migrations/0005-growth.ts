import { Migration } from '@mikro-orm/migrations';

const COUNTS = ['pending', 'completed'].flatMap((done) =>
  ['low', 'medium', 'high'].map((urgent) => `${done}_${urgent}`),
);

/** What an owner's lists and counts cost no longer depends on how many tasks there are. */
export class Growth extends Migration {
  override up(): void {
    // Constant defaults, so that no row is rewritten. Null: no one has counted yet.
    this.addSql(`
      alter table feeds add column counted bigint, add column keys integer not null default 0,
        ${COUNTS.map((column) => `add column ${column} integer not null default 0`).join(', ')}`);

    // Of large owners only. On `tasks` these indexes would cost everybody's writes more than all the rest of them.
    this.addSql(`
      create table task_keys (
        user_id uuid not null,
        id uuid not null,
        state smallint not null,
        category text,
        due_date timestamptz(3),
        created_at timestamptz(3) not null,
        updated_at timestamptz(3) not null,
        primary key (user_id, id)
      )`);
    this.addSql('create index task_keys_by_age on task_keys (user_id, state, created_at, id)');
    this.addSql('create index task_keys_by_due_date on task_keys (user_id, state, due_date, created_at, id)');
    this.addSql('create index task_keys_by_update on task_keys (user_id, state, updated_at, created_at, id)');
    const some = 'where category is not null';
    this.addSql(`create index task_keys_of_category on task_keys (user_id, category, state, created_at, id) ${some}`);
    this.addSql(
      `create index task_keys_of_category_by_due_date on task_keys (user_id, category, state, due_date, created_at, id) ${some}`,
    );
    this.addSql(
      `create index task_keys_of_category_by_update on task_keys (user_id, category, state, updated_at, created_at, id) ${some}`,
    );
    // Without statistics any value counts as a rare one. With them the planner would find it as good to scan all of an
    // owner's tasks, wherever most tasks of the store have the same state or category.
    this.addSql(`
      alter table task_keys alter column state set statistics 0, alter column category set statistics 0,
        alter column user_id set (n_distinct = -0.0001)`);
    // Most owners are small: behind a place the planner would expect next to nothing, and sort all that is there. What is
    // right for a thousand tasks is right for the others as well.
    this.addSql('alter table tasks alter column user_id set (n_distinct = -0.001)');
    this.addSql('analyze tasks (user_id)');
  }
}
