import { Migration } from '@mikro-orm/migrations';
import { LAST_MOMENT } from '../src/tasks/task-row.ts';

/** Repairs times after the year 9999, which earlier updates could produce and which cannot be read. */
export class TimesEnd extends Migration {
  override up(): void {
    this.addSql(`update tasks set updated_at = '${LAST_MOMENT}' where updated_at > '${LAST_MOMENT}'`);
    // JSON strings escape quotation marks, so only the key itself matches.
    const ended = (image: string) =>
      `regexp_replace(${image}::text, '"updated_at":"\\d{5,}-[^"]*"', '"updated_at":"9999-12-31T23:59:59.999+00:00"')::json`;
    this.addSql(`
      update changes set occurred_at = '${LAST_MOMENT}', task = ${ended('task')}, previous = ${ended('previous')}
      where occurred_at > '${LAST_MOMENT}'`);
  }
}
