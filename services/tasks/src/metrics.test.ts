import type { Database } from '@taskmesh/store';
import { Registry } from 'prom-client';
import { createDeadLetterRepository } from './relay/dead-letter.repository.ts';
import { createRelayMetrics } from './metrics.ts';
import { createRelayRepository } from './relay/relay.repository.ts';

it('omits backlog and dead letters while they cannot be counted, instead of reporting old values', async () => {
  let isAway = false;
  const database: Pick<Database, 'openSession' | 'run'> = {
    openSession: () => Promise.reject(new Error('away')),
    async run(_kind, { name }) {
      if (isAway) throw new Error('away');
      const row = name === 'relay-backlog' ? { pending: 3, oldest_age_s: 7 } : { source: 'gateway', count: 2 };
      return [row as never]; // what the statement of that name returns
    },
  };
  const registry = new Registry();
  createRelayMetrics(registry, {
    relay: createRelayRepository(database),
    deadLetters: createDeadLetterRepository(database),
  });
  const read = async () =>
    (await registry.metrics())
      .split('\n')
      .filter((line) => /^(taskmesh_outbox_pending|taskmesh_outbox_oldest|taskmesh_dead_letters)/.test(line));
  const known = [
    'taskmesh_outbox_pending_messages 3',
    'taskmesh_outbox_oldest_pending_age_seconds 7',
    'taskmesh_dead_letters{source="relay"} 0',
    'taskmesh_dead_letters{source="gateway"} 2',
  ];
  expect(await read()).toEqual(known);
  isAway = true;
  expect(await read()).toEqual([]);
  isAway = false;
  expect(await read()).toEqual(known);
});
