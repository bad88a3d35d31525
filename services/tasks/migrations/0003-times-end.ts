import { Migration } from '@mikro-orm/migrations';
import { MAX_TIME } from '../src/tasks/task-row.ts';

/** Repairs times after the year 9999, which earlier updates could produce and which cannot be read. */
export class TimesEnd extends Migration {
  override up(): void {
    this.addSql(`update tasks set updated_at = '${MAX_TIME}' where updated_at > '${MAX_TIME}'`);
    // JSON strings escape quotation marks, so only the key itself matches.
    const ended = (image: string) =>
      `regexp_replace(${image}::text, '"updated_at":"\\d{5,}-[^"]*"', '"updated_at":"9999-12-31T23:59:59.999+00:00"')::json`;
    this.addSql(`
      update changes set occurred_at = '${MAX_TIME}', task = ${ended('task')}, previous = ${ended('previous')}
      where occurred_at > '${MAX_TIME}'`);
  }
}
