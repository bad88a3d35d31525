import { Migration } from '@mikro-orm/migrations';

/** Tells other services which accounts were deleted. */
export class AccountLog extends Migration {
  override up(): void {
    // A single row, locked to append an entry: so sequences have no gaps and follow the order of commits. The epoch identifies
    // the log. It comes from the clock, so that a store that is created again has a different one.
    this.addSql(`
      create table account_log_state (
        id integer primary key check (id = 1),
        epoch integer not null,
        last bigint not null
      )`);
    this.addSql(`
      insert into account_log_state (id, epoch, last)
      values (1, greatest(1, extract(epoch from now() - timestamptz '2026-01-01T00:00Z')::integer), 0)`);
    // No foreign key, as the accounts are gone. Entries are kept forever, so that no archive brings an account back.
    this.addSql(`
      create table account_log (
        sequence bigint primary key,
        account_id uuid not null,
        kind text not null check (kind in ('DELETED')),
        occurred_at timestamptz(3) not null,
        published_at timestamptz,
        constraint account_log_once unique (account_id, kind)
      )`);
    this.addSql('create index account_log_to_publish on account_log (sequence) where published_at is null');
    // The last mail of an account is sent after its deletion.
    this.addSql('alter table account_mails alter column account_id drop not null');
  }
}
