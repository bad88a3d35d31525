import { Migration } from '@mikro-orm/migrations';

/** The sum of the columns that the previous release updates with every write. */
const sumOf = (row: string) =>
  ['pending', 'completed']
    .flatMap((done) => ['low', 'medium', 'high'].map((priority) => `${row}.${done}_${priority}`))
    .join(' + ');

const INDEXES = [
  'by_age',
  'by_due_date',
  'by_update',
  'of_category',
  'of_category_by_due_date',
  'of_category_by_update',
];

/**
 * One counter of an owner's tasks, instead of counts by state and keys of large owners. The previous release may run at the
 * same time, or again after a rollback, so its columns and its table remain until the next release.
 */
export class OneCounter extends Migration {
  override up(): void {
    // Counts before `feeds` is locked; owners who write meanwhile are counted again.
    this.addSql(`
      create table counted_tasks as
        select owner_id, f.sequence, coalesce(t.tasks, 0) as tasks
        from feeds f full join (select user_id as owner_id, count(*) as tasks from tasks group by user_id) t using (owner_id)`);
    this.addSql('alter table feeds add column tasks integer not null default 0');
    this.addSql(`
      insert into feeds (owner_id, sequence, tasks)
      select owner_id, 0, case when f.sequence is not distinct from c.sequence then c.tasks
        else (select count(*) from tasks where user_id = owner_id) end
      from feeds f full join counted_tasks c using (owner_id)
      on conflict (owner_id) do update set tasks = excluded.tasks, keys = 0`);
    this.addSql('drop table counted_tasks');

    // The previous release counts in its own columns. Only its updates set them, so ours do not fire this trigger.
    this.addSql(`
      create function feeds_count_tasks() returns trigger language plpgsql as $$
      begin
        new.keys := 0;
        if tg_op = 'INSERT' then
          new.tasks := ${sumOf('new')};
        elsif new.sequence > old.sequence then
          new.tasks := old.tasks + ${sumOf('new')} - (${sumOf('old')});
        end if;
        return new;
      end $$`);
    this.addSql(`
      create trigger feeds_count_tasks before update of pending_low on feeds
        for each row execute function feeds_count_tasks()`);
    this.addSql(`
      create trigger feeds_count_first_task before insert on feeds
        for each row when (new.counted is not null) execute function feeds_count_tasks()`);

    // Without keys, the previous release reads the tasks themselves.
    this.addSql('truncate task_keys');
    this.addSql(`drop index ${INDEXES.map((name) => `task_keys_${name}`).join(', ')}`);
    this.addSql(`
      create function task_keys_stay_empty() returns trigger language plpgsql as $$ begin return null; end $$`);
    this.addSql(`
      create trigger task_keys_stay_empty before insert on task_keys
        for each row execute function task_keys_stay_empty()`);
  }
}
