import { Migration } from '@mikro-orm/migrations';

export class PasswordsAndSessions extends Migration {
  override up(): void {
    // During a rolling upgrade, instances of an older release set passwords without setting `has_password`. The trigger covers both
    // releases: a higher version means that there is a password.
    this.addSql(`
      create function accounts_have_password() returns trigger language plpgsql as $$
      begin
        new.has_password := true;
        return new;
      end $$`);
    this.addSql(`
      create trigger accounts_have_password before update of password_version on accounts
        for each row when (new.password_version > old.password_version) execute function accounts_have_password()`);
    // Deleting an account looks up all of its sessions, including those that have ended.
    this.addSql('create index sessions_account_id on sessions (account_id)');
    this.addSql('drop index sessions_living');
  }
}
