import { atEnd, createRandom, eventually, numberFromEnv } from '@taskmesh/testing';
import { setTimeout as sleep } from 'node:timers/promises';
import { expectKept, underLoad } from './campaign.ts';
import { useStack } from '../stack.ts';
import { createBystanders } from './bystanders.ts';
import { createDeletions } from './deletions.ts';
import { contradictingGuests, hostGuests } from './guests.ts';
import { inject } from './inject.ts';
import { readPublished } from './published.ts';

const SEED = numberFromEnv('TASKMESH_SEED', 20_261_121);
const OWNERS = 4;
/** A writer pauses this long on average: more would only slow the restarts down. */
const PACE_MS = 100;
/** How long the load runs at most between two kills. */
const CALM_MS = 500;
/** How long guests come and go before the kill. */
const GUESTS_MS = 2_000;

describe('kill -9 of any process of the stack under load', () => {
  const random = createRandom(SEED);
  const faulty = useStack('kill');

  it('loses, repeats and reorders nothing in any protocol, also of deleted accounts, even if Kafka comes back empty', async () => {
    const names = Array.from({ length: OWNERS }, (_, owner) => `killed-${owner}-of-${SEED}`);
    const { urls } = faulty.stack;
    const kill = async (target: string) => {
      await inject(faulty, { target, kind: 'kill', forMs: 0 });
      await sleep(CALM_MS * random());
    };
    const deletions = await createDeletions(faulty, kill);
    atEnd(() => deletions.close());
    const kept = await underLoad({ urls, random, paceMs: PACE_MS, names }, async (accounts) => {
      await kill('gateway-1');
      const expected = [
        await deletions.during(['tasks', 'tasks', 'tasks']), // again and again
        await deletions.during(['auth', 'tasks']), // auth right after its response
        await deletions.during(['kafka', 'postgres']),
      ];
      await Promise.all([kill('backup'), kill('redis'), ...expected.map((expectDeleted) => expectDeleted())]);
      await inject(faulty, { target: 'kafka', kind: 'wipe', forMs: 0 });
      const admin = faulty.stack.processes.get('tasks')?.current.adminUrl ?? '';
      const isUp = async () =>
        ((await (await fetch(`${admin}/readyz?verbose`)).json()) as { checks: { eventLog: boolean } }).checks.eventLog;
      await eventually(isUp, { timeoutMs: 30_000 });
      // Enough writes for a verdict, however slow the machine is.
      const confirmed = () => accounts.reduce((sum, account) => sum + account.figures().confirmed, 0);
      await eventually(() => expect(confirmed()).toBeGreaterThan(200), { timeoutMs: 90_000 });
    });
    expectKept(kept);
  }, 240_000);

  it('deletes accounts once, leaves nothing in any store, and does not affect others, however often it is retried', async () => {
    const { stack } = faulty;
    const published = await readPublished(stack);
    atEnd(() => published.close());
    const options = { ...faulty, stack, published, mark: `guest-${SEED}`, random };
    const bystanders = await createBystanders(stack, `bystander-${SEED}`);
    const before = await bystanders.rows();
    const guests = hostGuests(options);
    await sleep(GUESTS_MS);
    await inject(faulty, { target: 'auth', kind: 'kill', forMs: 0 });
    const gone = await guests.stop();
    expect(await contradictingGuests(gone, [], options)).toEqual([]);
    expect(await bystanders.rows()).toEqual(before);
    const lost = gone.reduce((sum, { lostResponses }) => sum + lostResponses, 0);
    console.info(`seed ${SEED}: ${gone.length} accounts deleted, ${lost} answers of that lost`);
  }, 240_000);
});
