import { Gauge, type Registry } from 'prom-client';
import type { Pool } from 'pg';

type Measured = { pool(): Promise<Pool> };

/** By registry and name: several services of one process share its metrics. */
const measured = new WeakMap<Registry, Map<string, Measured>>();

/** How full a database's pool is, counted when somebody looks. */
export function measurePool(registry: Registry, name: string, database: Measured): void {
  const known = measured.get(registry);
  if (known) return void known.set(name, database);
  const databases = new Map([[name, database]]);
  measured.set(registry, databases);
  const registers = [registry];
  new Gauge({
    name: 'db_client_connection_count',
    help: 'Connections of a pool to its database',
    labelNames: ['pool', 'state'],
    registers,
    async collect() {
      for (const [pool, each] of databases) {
        const { totalCount, idleCount } = await each.pool();
        this.set({ pool, state: 'idle' }, idleCount);
        this.set({ pool, state: 'used' }, totalCount - idleCount);
      }
    },
  });
  new Gauge({
    name: 'db_client_connection_pending_requests',
    help: 'Statements that wait for a connection of a pool',
    labelNames: ['pool'],
    registers,
    async collect() {
      for (const [pool, each] of databases) this.set({ pool }, (await each.pool()).waitingCount);
    },
  });
}
