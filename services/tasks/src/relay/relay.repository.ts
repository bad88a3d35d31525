import { readBacklog, type Backlog, type Database } from '@taskmesh/store';
import { openLease, type Lease, type LeaseOptions } from './lease.repository.ts';
import { BACKLOG, HAS_BACKLOG } from './relay.statements.ts';

export type RelayRepository = ReturnType<typeof createRelayRepository>;

export function createRelayRepository(database: Pick<Database, 'openSession' | 'run'>) {
  return {
    openLease: (options: LeaseOptions): Promise<Lease> => openLease(database, options),

    /** How far the event log is behind the store. Rejects when the database is unavailable or too slow. */
    backlog: (): Promise<Backlog> => readBacklog(database, BACKLOG),

    async hasBacklog(): Promise<boolean> {
      const [row] = await database.run<{ pending: boolean }>('read', HAS_BACKLOG, []);
      return row?.pending !== false;
    },
  };
}
