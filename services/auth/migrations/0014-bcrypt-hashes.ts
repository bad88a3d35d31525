import { Migration } from '@mikro-orm/migrations';

export class BcryptHashes extends Migration {
  override up(): void {
    this.addSql(`create index accounts_bcrypt on accounts (password_hash) where password_hash like '$2%'`);
  }
}
