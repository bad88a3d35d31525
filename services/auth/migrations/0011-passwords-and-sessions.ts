import { Migration } from '@mikro-orm/migrations';

export class PasswordsAndSessions extends Migration {
  override up(): void {
    // A release that does not know `has_password` sets passwords, too, while instances of both run. Whichever does: with a new version
    // there is a password.
    this.addSql(`
      create function accounts_have_password() returns trigger language plpgsql as $$
      begin
        new.has_password := true;
        return new;
      end $$`);
    this.addSql(`
      create trigger accounts_have_password before update of password_version on accounts
        for each row when (new.password_version > old.password_version) execute function accounts_have_password()`);
    // All of an account's sessions are looked for when it is deleted, not only the living ones.
    this.addSql('create index sessions_account_id on sessions (account_id)');
    this.addSql('drop index sessions_living');
  }
}
