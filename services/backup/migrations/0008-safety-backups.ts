import { Migration } from '@mikro-orm/migrations';

export class SafetyBackups extends Migration {
  override up(): void {
    this.addSql(`alter table restores add column safety_backup text`);
  }
}
