import { Migration } from '@mikro-orm/migrations';

export class Migration0008SafetyBackups extends Migration {
  override up(): void {
    this.addSql(`alter table restores add column safety_backup text`);
  }
}
