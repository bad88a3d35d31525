import { Migration } from '@mikro-orm/migrations';

export class Proofs extends Migration {
  override up(): void {
    // The file that was verified: a different modification time means a different file.
    this.addSql(`
      alter table backups
        add column modified_at timestamptz(3),
        add column verified_version text`);
  }
}
