import { databaseUrl, serviceDatabase, withPostgres, type Stack } from '@taskmesh/local';

const STATES = ['pending', 'completed'].flatMap((done) =>
  ['low', 'medium', 'high'].map((urgent) => ({
    column: `${done}_${urgent}`,
    is: `t.completed = ${done === 'completed'} and t.priority = '${urgent}'`,
  })),
);

const MISCOUNTED = `
  select owner_id from feeds f where counted = sequence and (
    ${STATES.map(({ column, is }) => `${column} <> (select count(*) from tasks t where t.user_id = owner_id and ${is})`).join(' or ')}
  )`;
/** Nobody counts for deleted accounts. */
const UNCOUNTED = 'select owner_id from feeds where counted is distinct from sequence and ends_at is null';

/** Owners of whose tasks the store has a wrong count, or none. */
export function miscounted({ servers }: Stack): Promise<unknown[]> {
  return withPostgres(databaseUrl(servers.postgres, serviceDatabase('tasks')), async (client) => {
    const wrong = await client.query<{ owner_id: string }>(MISCOUNTED);
    const missing = await client.query<{ owner_id: string }>(UNCOUNTED);
    return [...wrong.rows, ...missing.rows].map(({ owner_id: owner }) => owner);
  });
}
