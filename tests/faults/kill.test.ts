import { TASK_CHANGES_TOPIC } from '@taskmesh/contracts';
import { createKafkaEventLog } from '@taskmesh/event-log';
import { createLog } from '@taskmesh/service';
import { eventually } from '@taskmesh/testing';
import { setTimeout as sleep } from 'node:timers/promises';
import { createAccount, type Account } from './account.ts';
import { conclude } from './campaign.ts';
import { useFaultStack } from './fault-stack.ts';
import { inject } from './inject.ts';
import { createRandom, numberFromEnv } from './random.ts';

const SEED = numberFromEnv('TASKMESH_SEED', 20_261_121);
const OWNERS = 4;
/** How long the load runs before, between and after the kills. */
const CALM_MS = 1_500;

describe('kill -9 of any process of the stack under load', () => {
  const random = createRandom(SEED);
  const faulty = useFaultStack('kill');

  it.each([['gateway-1', 'tasks'], ['postgres'], ['auth', 'backup', 'redis'], ['kafka']])(
    'loses, repeats and reorders nothing in any protocol: %s %s %s',
    async (...victims) => {
      const accounts: Account[] = [];
      for (let owner = 0; owner < OWNERS; owner++)
        accounts.push(
          await createAccount({
            urls: faulty.stack.urls,
            name: `owner-${victims.join('-')}-${owner}`,
            random,
            paceMs: 40,
          }),
        );
      await sleep(CALM_MS);
      for (const target of victims) {
        await inject(faulty, { target, kind: 'kill', forMs: 0 });
        await sleep(CALM_MS * (0.5 + random()));
      }
      // Enough for a verdict, however fast the machine is.
      const confirmed = () => accounts.reduce((sum, account) => sum + account.figures().confirmed, 0);
      await eventually(() => expect(confirmed()).toBeGreaterThan(100), { timeoutMs: 90_000 });
      await Promise.all(accounts.map((account) => account.stopWriting()));
      const { findings, figures } = await conclude(accounts);
      console.info(`seed ${SEED}, killed ${victims.join(', ')}:`, JSON.stringify(figures));
      expect(findings).toEqual([]);
      for (const { events } of Object.values(figures.streams))
        expect(events).toBeGreaterThanOrEqual(figures.writes.confirmed);
    },
    240_000,
  );

  it('misses nothing and publishes again when Kafka comes back empty', async () => {
    const account = await createAccount({ urls: faulty.stack.urls, name: 'owner-wiped', random, paceMs: 40 });
    await sleep(CALM_MS);
    await inject(faulty, { target: 'kafka', kind: 'wipe', forMs: 0 });
    const admin = faulty.stack.processes.get('tasks')?.current.adminUrl ?? '';
    await eventually(
      async () => {
        const { checks } = (await (await fetch(`${admin}/readyz?verbose`)).json()) as { checks: { eventLog: boolean } };
        return checks.eventLog;
      },
      { timeoutMs: 30_000 },
    );
    await account.stopWriting();
    const { contradictions, surprises } = await account.verdict();
    await account.close();
    expect([...contradictions, ...surprises]).toEqual([]);
  }, 180_000);

  it('misses nothing for unreadable records, and keeps those for an operator', async () => {
    const account = await createAccount({ urls: faulty.stack.urls, name: 'owner-poison', random, paceMs: 40 });
    const eventLog = createKafkaEventLog({
      brokers: [faulty.stack.servers.kafka],
      clientId: 'poison',
      log: createLog({ service: 'poison', level: 'silent' }),
    });
    const key = account.ownerId;
    for (const value of ['garbage', '{}', JSON.stringify({ ownerId: key, sequence: 1, epoch: 1 })]) {
      await eventLog.publish(TASK_CHANGES_TOPIC, [{ key, value }]);
      await sleep(200);
    }
    await eventLog.close();
    const kept = async () => {
      const response = await fetch(`${faulty.stack.urls[0]}/api/operations/dead-letters`);
      return ((await response.json()) as { data: object[] }).data;
    };
    // Two gateways read each of them; it is kept once.
    await eventually(async () => expect(await kept()).toHaveLength(3));
    expect(await kept()).toMatchObject([{ record: 'garbage' }, { record: '{}' }, { sequence: '1', canReplay: true }]);
    await account.stopWriting();
    const { contradictions, surprises } = await account.verdict();
    await account.close();
    expect([...contradictions, ...surprises]).toEqual([]);
  }, 180_000);
});
