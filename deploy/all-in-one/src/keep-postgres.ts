import { startPostgres, supervise, type PostgresServer } from '@taskmesh/local';
import { join } from 'node:path';

/** About six seconds of pauses, not counting the starts themselves. */
const MAX_TRIES = 5;

/** Starts the platform's own PostgreSQL, and restarts it whenever it dies, at the same address with the same data. Gives up on `signal`. */
export async function keepPostgres(dataDir: string, progress: (line: string) => void, signal?: AbortSignal) {
  progress('Starting PostgreSQL …');
  const postgres = await supervise<PostgresServer>({
    name: 'PostgreSQL',
    // At the same port in every life: the services have been given it.
    start: (givenUp, former) =>
      startPostgres({ dataDir: join(dataDir, 'postgres'), log: progress, port: former?.port, signal: givenUp }),
    revive: true,
    maxTries: MAX_TRIES,
    ...{ log: progress, signal },
    onChange: () => undefined,
  });
  progress(`PostgreSQL ${postgres.current.version} is ready.`);
  return postgres;
}
