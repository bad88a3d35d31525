import { databaseUrl, serviceDatabase, withPostgres, type Stack } from '@taskmesh/local';

const MISCOUNTED = `
  select owner_id from feeds f full join (select user_id as owner_id, count(*) as found from tasks group by user_id) t using (owner_id)
  where coalesce(f.tasks, 0) <> coalesce(t.found, 0)`;

/** Returns the owners for which the store has a wrong number of tasks. */
export function miscounted({ servers }: Stack): Promise<unknown[]> {
  return withPostgres(databaseUrl(servers.postgres, serviceDatabase('tasks')), async (client) => {
    const { rows } = await client.query<{ owner_id: string }>(MISCOUNTED);
    return rows.map(({ owner_id: owner }) => owner);
  });
}
