import { Migration } from '@mikro-orm/migrations';

export class UnfitReasons extends Migration {
  override up(): void {
    this.addSql(`alter table backups add column unfit_reason text`);
  }
}
