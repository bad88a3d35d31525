import { startPostgres, supervise, type PostgresServer } from '@taskmesh/local';
import { join } from 'node:path';

/** The pauses between them add up to about six seconds. */
const MAX_TRIES = 5;

/** Starts the platform's own PostgreSQL, and restarts it whenever it dies, with the same address and data. Aborted by `signal`. */
export async function keepPostgres(dataDir: string, progress: (line: string) => void, signal?: AbortSignal) {
  progress('Starting PostgreSQL …');
  const postgres = await supervise<PostgresServer>({
    name: 'PostgreSQL',
    // On the same port after each restart, because the services have its URL.
    start: (startSignal, previous) =>
      startPostgres({ dataDir: join(dataDir, 'postgres'), log: progress, port: previous?.port, signal: startSignal }),
    revive: true,
    maxTries: MAX_TRIES,
    ...{ log: progress, signal },
    onChange: () => undefined,
  });
  progress(`PostgreSQL ${postgres.current.version} is ready.`);
  return postgres;
}
