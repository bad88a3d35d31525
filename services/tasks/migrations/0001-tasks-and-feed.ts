import { Migration } from '@mikro-orm/migrations';

/** The store: tasks, each owner's feed, the change log, and the keys that make retries safe. */
export class TasksAndFeed extends Migration {
  override up(): void {
    // Free space in a page lets an update that touches no index stay on that page.
    this.addSql(`
      create table tasks (
        id uuid primary key,
        user_id uuid not null,
        title text not null,
        description text,
        completed boolean not null,
        due_date timestamptz(3),
        category text,
        priority text not null check (priority in ('low', 'medium', 'high')),
        created_at timestamptz(3) not null,
        updated_at timestamptz(3) not null,
        version integer not null default 1
      ) with (fillfactor = 80)`);
    this.addSql('create index tasks_by_owner on tasks (user_id, created_at, id)');

    // One row for each owner who has ever made a change. Its lock determines the order of the owner's changes.
    this.addSql(`
      create table feeds (
        owner_id uuid primary key,
        sequence bigint not null
      ) with (fillfactor = 50)`);

    // Marking a change as published removes it from the partial index. Early vacuums keep that index small.
    this.addSql(`
      create table changes (
        id bigserial primary key,
        part smallint not null,
        owner_id uuid not null,
        sequence bigint not null,
        kind text not null check (kind in ('INSERT', 'UPDATE', 'DELETE')),
        task json not null,
        previous json,
        occurred_at timestamptz(3) not null,
        traceparent text,
        published_at timestamptz,
        constraint changes_in_order unique (owner_id, sequence)
      ) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0)`);
    this.addSql('create index changes_to_publish on changes (part, id) where published_at is null');

    // Epoch and key belong to the store, not to a process: replicas share them, and a restored store gets new ones.
    this.addSql(`
      create table feed_state (
        singleton boolean primary key default true check (singleton),
        epoch integer not null,
        cursor_key bytea not null
      )`);
    this.addSql(`
      insert into feed_state (epoch, cursor_key)
      values (1, decode(replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', ''), 'hex'))`);

    this.addSql(`
      create table dead_letters (
        change_id bigint primary key,
        owner_id uuid not null,
        sequence bigint not null,
        reason text not null,
        died_at timestamptz not null default now()
      )`);

    this.addSql(`
      create table idempotency_keys (
        owner_id uuid not null,
        key text not null,
        input_hash text not null,
        task json not null,
        expires_at timestamptz(3) not null,
        primary key (owner_id, key)
      )`);
    this.addSql('create index idempotency_keys_by_age on idempotency_keys (expires_at)');
  }
}
