import { Migration } from '@mikro-orm/migrations';

export class Verifications extends Migration {
  override up(): void {
    this.addSql(`
      create table verifications (
        id text primary key,
        stores text[] not null,
        started_at timestamptz(3) not null
      )`);
  }
}
