import type { Pool } from 'pg';
import { Registry } from 'prom-client';
import { measurePool } from './pool-metrics.ts';

const poolWith = (counts: { totalCount: number; idleCount: number; waitingCount: number }) => counts as Pool; // the only fields read

it('tells how full the pools of one process are, each by its name', async () => {
  const registry = new Registry();
  measurePool(registry, 'tasks', poolWith({ totalCount: 10, idleCount: 3, waitingCount: 5 }));
  measurePool(registry, 'auth', poolWith({ totalCount: 1, idleCount: 1, waitingCount: 0 }));
  const text = await registry.metrics();
  expect(text.split('\n').filter((line) => line.startsWith('db_'))).toEqual([
    'db_client_connection_count{pool="tasks",state="idle"} 3',
    'db_client_connection_count{pool="tasks",state="used"} 7',
    'db_client_connection_count{pool="auth",state="idle"} 1',
    'db_client_connection_count{pool="auth",state="used"} 0',
    'db_client_connection_pending_requests{pool="tasks"} 5',
    'db_client_connection_pending_requests{pool="auth"} 0',
  ]);
});
