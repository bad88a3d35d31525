import { Migration } from '@mikro-orm/migrations';

export class RestoreOutcomes extends Migration {
  override up(): void {
    this.addSql(`
      alter table restores
        drop constraint restores_stage_check,
        add constraint restores_stage_check
          check (stage in ('loading', 'swapping', 'swapping-apart', 'decided', 'restored', 'undone')),
        add column fresh_ids jsonb not null default '{}',
        add column undoes text,
        add column left_until timestamptz(3)`);
    this.addSql(`create index on restores (left_until) where left_until is not null`);
  }
}
