import { createStoreStatus, type Database } from '@taskmesh/store';
import { STATUS_PART_MS, type ServiceStatus, type StatusOf } from '@taskmesh/internal-api';
import { readVersion, type Clock } from '@taskmesh/service';

export interface AuthStatusDeps {
  database: Pick<Database, 'schemaState' | 'versions'>;
  clock: Clock;
}

export function createAuthStatus({ database, clock }: AuthStatusDeps): StatusOf<ServiceStatus> {
  const startedAt = new Date(clock.now()).toISOString();
  const readStoreStatus = createStoreStatus(database, STATUS_PART_MS);
  return {
    status: async () => ({ version: readVersion(), startedAt, store: await readStoreStatus() }),
  };
}
