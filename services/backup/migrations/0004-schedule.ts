import { Migration } from '@mikro-orm/migrations';

export class Schedule extends Migration {
  override up(): void {
    this.addSql(`alter table backups add column origin text not null default 'request'`);
    this.addSql(`
      create table schedule (
        id text primary key,
        moment timestamptz(3) not null
      )`);
  }
}
