import type { Pool } from 'pg';

/** The only statements after whose failure nobody gives the connection back. */
const UNGUARDED = new Set(['begin', 'rollback']);

/**
 * The query builder below MikroORM keeps a connection for good when its `begin` or `rollback` fails, as they do when the
 * server ends a session: ten such moments, and the pool is empty until the process ends. Here such a connection is
 * thrown away, and makes room for a new one. To be called before the pool's first connection.
 */
export function giveBackLostConnections(pool: Pool): void {
  pool.on('connect', (client) => {
    const query = client.query;
    const watched = (...args: Parameters<typeof query>) => {
      const result: unknown = Reflect.apply(query, client, args);
      const [text] = args as unknown[];
      if (typeof text === 'string' && UNGUARDED.has(text) && result instanceof Promise)
        result.catch(() => client.release(true));
      return result;
    };
    Object.assign(client, { query: watched });
  });
}
