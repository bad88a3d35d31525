import { STORE_TABLES } from '@taskmesh/internal-api';

/** A statement for each table whose rows belong to owners: deletes those whose owner is as `which` says, in SQL. */
export const erasureOf = (which: string): string[] =>
  Object.entries(STORE_TABLES.tasks).flatMap(([table, { owner }]) =>
    owner ? [`delete from public.${table} where ${owner} ${which}`] : [],
  );
