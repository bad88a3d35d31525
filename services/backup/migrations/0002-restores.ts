import { Migration } from '@mikro-orm/migrations';

export class Restores extends Migration {
  override up(): void {
    this.addSql(`
      create table restores (
        id text primary key,
        file text not null,
        stage text not null check (stage in ('loading', 'swapping', 'restored', 'undone')),
        stores text[] not null,
        started_at timestamptz(3) not null,
        ended_at timestamptz(3)
      )`);
    this.addSql(`create index on restores (started_at) where ended_at is null`);
  }
}
