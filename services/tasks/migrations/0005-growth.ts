import { Migration } from '@mikro-orm/migrations';

const COUNTS = ['pending', 'completed'].flatMap((done) =>
  ['low', 'medium', 'high'].map((urgent) => `${done}_${urgent}`),
);

/** Makes the cost of an owner's lists and counts independent of the number of tasks. */
export class Growth extends Migration {
  override up(): void {
    // Constant defaults, so that no row is rewritten. Null: not counted yet.
    this.addSql(`
      alter table feeds add column counted bigint, add column keys integer not null default 0,
        ${COUNTS.map((column) => `add column ${column} integer not null default 0`).join(', ')}`);

    // For large owners only. On `tasks`, these indexes would cost every owner's writes more than everything else in them.
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
    // Without statistics, the planner treats every value as rare. With them, it may scan all of an owner's tasks if most tasks
    // in the store have the same state or category.
    this.addSql(`
      alter table task_keys alter column state set statistics 0, alter column category set statistics 0,
        alter column user_id set (n_distinct = -0.0001)`);
    // Most owners are small, so the planner would expect almost no rows after a cursor, and sort all of them. A plan that suits
    // a thousand tasks also suits small owners.
    this.addSql('alter table tasks alter column user_id set (n_distinct = -0.001)');
    this.addSql('analyze tasks (user_id)');
  }
}
