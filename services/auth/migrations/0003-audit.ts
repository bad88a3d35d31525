import { Migration } from '@mikro-orm/migrations';

export class Audit extends Migration {
  override up(): void {
    // No foreign key: the entries outlive the account.
    this.addSql(`
      create table audit_log (
        id bigint generated always as identity primary key,
        at timestamptz(3) not null,
        kind text not null,
        account_id uuid,
        session_id uuid,
        ip text,
        request_id text not null
      )`);
    this.addSql('create index audit_log_account on audit_log (account_id, id)');
    this.addSql(`
      create function audit_log_only_grows() returns trigger language plpgsql as $$
      begin
        raise exception 'the audit trail only grows' using errcode = 'restrict_violation';
      end $$`);
    this.addSql(`
      create trigger audit_log_only_grows before update or delete or truncate on audit_log
        for each statement execute function audit_log_only_grows()`);
  }
}
