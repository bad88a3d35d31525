import { setTimeout as sleep } from 'node:timers/promises';
import { createClient, type Sender } from './clients.ts';
import { WAYS, type Group } from './ways.ts';

// A process of its own, of low priority: the clients that we watch must not wait for the CPU because of its work.

export type Attack = [way: string, group: Group, senders: readonly Sender[], forMs: number];

/** Those that may run at once, and some that wait. */
const AT_ONCE: Record<Group, number> = { account: 24, accounts: 240, addresses: 240, strangers: 260 };

/** Does what may be done in one way. Returns the number of each outcome. */
async function attack([way, group, senders, forMs]: Attack): Promise<Record<string, number>> {
  const [, , , run, atOnce = AT_ONCE[group]] = WAYS.find(([name]) => name === way) ?? [];
  const clients = senders.map(createClient);
  const outcomes: Record<string, number> = {};
  const workers = Array.from({ length: atOnce }, async (_, at) => {
    const client = clients[at % clients.length];
    while (client && run && !client.isOver()) {
      const outcome = await run(client);
      outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
    }
  });
  await sleep(forMs);
  for (const client of clients) client.close();
  await Promise.all(workers);
  return outcomes;
}

process.on('message', (message: Attack) => void attack(message).then((outcomes) => process.send?.(outcomes)));
