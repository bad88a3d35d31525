import { Migration } from '@mikro-orm/migrations';
import { LAST_MOMENT } from '../src/tasks/task-row.ts';

/** An update could move a time past the year 9999, where nothing reads it any more. */
export class TimesEnd extends Migration {
  override up(): void {
    this.addSql(`update tasks set updated_at = '${LAST_MOMENT}' where updated_at > '${LAST_MOMENT}'`);
    // Within a JSON text a quotation mark has a backslash before it: only the key itself looks like this.
    const ended = (image: string) =>
      `regexp_replace(${image}::text, '"updated_at":"\\d{5,}-[^"]*"', '"updated_at":"9999-12-31T23:59:59.999+00:00"')::json`;
    this.addSql(`
      update changes set occurred_at = '${LAST_MOMENT}', task = ${ended('task')}, previous = ${ended('previous')}
      where occurred_at > '${LAST_MOMENT}'`);
  }
}
