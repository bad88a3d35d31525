import { readBacklog, type Backlog, type Database } from '@taskmesh/database';
import { COUNT } from './dead-letters.statements.ts';
import { BACKLOG } from './relay.statements.ts';

/** How far the event log is behind the store. Rejects when the database is unavailable or too slow. */
export function readRelayBacklog(database: Pick<Database, 'run'>): Promise<Backlog> {
  return readBacklog(database, BACKLOG);
}

/** What waits for an operator, by who put it aside. */
export async function countDeadLetters(database: Pick<Database, 'run'>): Promise<{ relay: number; gateway: number }> {
  const rows = await database.run<{ source: 'relay' | 'gateway'; count: number }>('read', COUNT, []);
  return { relay: 0, gateway: 0, ...Object.fromEntries(rows.map(({ source, count }) => [source, count])) };
}
