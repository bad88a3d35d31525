import { Migration } from '@mikro-orm/migrations';

export class RefreshKeys extends Migration {
  override up(): void {
    this.addSql('alter table sessions add column refresh_key text');
  }
}
