import { Migration } from '@mikro-orm/migrations';

/** What becomes of accounts, for the services that keep something of their owners. */
export class AccountLog extends Migration {
  override up(): void {
    // One row, locked by whoever adds an entry: sequences come in the order of the commits, without gaps. The epoch tells one
    // log from another: it follows the clock, so that a store that was made anew has one of its own.
    this.addSql(`
      create table account_log_state (
        id integer primary key check (id = 1),
        epoch integer not null,
        last bigint not null
      )`);
    this.addSql(`
      insert into account_log_state (id, epoch, last)
      values (1, greatest(1, extract(epoch from now() - timestamptz '2026-01-01T00:00Z')::integer), 0)`);
    // No foreign key: its accounts are gone. Entries stay for good, so that no archive brings such an account back.
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
    // The last mail of an account outlives it.
    this.addSql('alter table account_mails alter column account_id drop not null');
  }
}
