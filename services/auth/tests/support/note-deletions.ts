import type { RunningAuth } from './running-auth.ts';

/** From now on, how many rows of the table each committed statement has deleted, if any. */
export async function noteDeletions({ database }: RunningAuth, table: string): Promise<() => Promise<number[]>> {
  await database.query(
    `drop table if exists deletions;
     create table deletions (size integer);
     create or replace function note_deletion() returns trigger language plpgsql as $$
     begin
       insert into deletions select count(*) from gone having count(*) > 0;
       return null;
     end $$;
     create or replace trigger note_deletion after delete on ${table} referencing old table as gone
       for each statement execute function note_deletion()`,
  );
  return async () => (await database.query('select size from deletions')).map(({ size }) => Number(size));
}
