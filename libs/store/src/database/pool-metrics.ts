import { Gauge, type Registry } from 'prom-client';
import type { Pool } from 'pg';

/** By registry and name: services in one process share a registry. */
const measured = new WeakMap<Registry, Map<string, Pool>>();

export function measurePool(registry: Registry, name: string, pool: Pool): void {
  const known = measured.get(registry);
  if (known) return void known.set(name, pool);
  const pools = new Map([[name, pool]]);
  measured.set(registry, pools);
  const registers = [registry];
  new Gauge({
    name: 'db_client_connection_count',
    help: 'Connections of a pool to its database',
    labelNames: ['pool', 'state'],
    registers,
    collect() {
      for (const [pool, { totalCount, idleCount }] of pools) {
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
    collect() {
      for (const [pool, { waitingCount }] of pools) this.set({ pool }, waitingCount);
    },
  });
}
