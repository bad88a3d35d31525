import { Migration } from '@mikro-orm/migrations';

export class Proofs extends Migration {
  override up(): void {
    // What an archive was when something was learned of it: another time of change means another file.
    this.addSql(`
      alter table backups
        add column modified_at timestamptz(3),
        add column verified_version text`);
  }
}
