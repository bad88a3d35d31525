import type { Client } from 'pg';
import type { RestoreNames } from './names.ts';

/** The ids of a restore's databases that exist. A database keeps its id when it is renamed. */
export interface DatabaseIds {
  live: string | undefined;
  fresh: string | undefined;
}

export async function databaseIds(client: Client, { live, fresh }: RestoreNames): Promise<DatabaseIds> {
  const { rows } = await client.query<{ name: string; id: string }>(
    'select datname as name, oid::text as id from pg_catalog.pg_database where datname = any($1)',
    [[live, fresh]],
  );
  const ids = new Map(rows.map(({ name, id }) => [name, id]));
  return { live: ids.get(live), fresh: ids.get(fresh) };
}
