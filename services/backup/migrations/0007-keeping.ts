import { Migration } from '@mikro-orm/migrations';

export class Keeping extends Migration {
  override up(): void {
    this.addSql(`alter table backups add column unfit_at timestamptz(3)`);
    this.addSql(`
      alter table schedule
        add column begun_moment timestamptz(3),
        add column begun_at timestamptz(3),
        add column attempts int not null default 0`);
    this.addSql(`
      create table failing_runs (
        run text primary key,
        since timestamptz(3) not null,
        told_at timestamptz(3)
      )`);
    // Used up to 0.1.0, to which an upgrade can be rolled back: a later release removes the table.
    this.addSql(`
      create table bucket_uploads (
        upload_id text primary key,
        bucket text not null,
        key text not null,
        begun_at timestamptz(3) not null
      )`);
  }
}
