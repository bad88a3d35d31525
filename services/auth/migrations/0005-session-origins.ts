import { Migration } from '@mikro-orm/migrations';

/** Columns that help users recognise their sessions. */
export class SessionOrigins extends Migration {
  override up(): void {
    this.addSql(`
      alter table sessions
        add column last_used_at timestamptz(3),
        add column ip text,
        add column client text`);
  }
}
