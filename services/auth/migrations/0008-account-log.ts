import { Migration } from '@mikro-orm/migrations';

/** The log from which other services learn that an account was deleted. */
export class AccountLog extends Migration {
  override up(): void {
    // A single row. Appending an entry locks it, so sequences follow the order of commits and have no gaps. The epoch identifies
    // the log. It comes from the clock, so that a recreated store gets a different one.
    this.addSql(`
      create table account_log_state (
        id integer primary key check (id = 1),
        epoch integer not null,
        last bigint not null
      )`);
    this.addSql(`
      insert into account_log_state (id, epoch, last)
      values (1, greatest(1, extract(epoch from now() - timestamptz '2026-01-01T00:00Z')::integer), 0)`);
    // No foreign key: the accounts no longer exist. Entries are kept forever, so that no restored archive brings an account back.
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
