import { Migration } from '@mikro-orm/migrations';

export class Catalogue extends Migration {
  override up(): void {
    this.addSql(`
      create table backups (
        file text primary key,
        size_bytes double precision not null,
        sha256 text,
        created_at timestamptz(3) not null,
        stores text[] not null,
        verified_at timestamptz(3)
      )`);
  }
}
