import { Migration } from '@mikro-orm/migrations';

export class Retention extends Migration {
  override up(): void {
    this.addSql('alter table sessions add column refresh_family text');
    this.addSql('create index sessions_refresh_family on sessions (refresh_family) where refresh_family is not null');
    // The audit log still refuses every change, except deletions that declare themselves as housekeeping.
    this.addSql(`
      create or replace function audit_log_only_grows() returns trigger language plpgsql as $$
      begin
        if tg_op = 'DELETE' and current_setting('taskmesh.audit_housekeeping', true) = 'on' then return null; end if;
        raise exception 'the audit trail only grows' using errcode = 'restrict_violation';
      end $$`);
    this.addSql(
      `create index audit_log_sign_ins on audit_log (account_id, id) where kind in ('account.created', 'session.opened')`,
    );
    this.addSql(
      `create index audit_log_frequent on audit_log (id) where kind in ('login.failed', 'session.refreshed')`,
    );
  }
}
