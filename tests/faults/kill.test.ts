import { atEnd, createRandom, eventually, numberFromEnv } from '@taskmesh/testing';
import { setTimeout as sleep } from 'node:timers/promises';
import { expectKept, underLoad } from './campaign.ts';
import { queryStore, useStack } from '../stack.ts';
import { createBystanders } from './bystanders.ts';
import { contradictingGuests, hostGuests } from './guests.ts';
import { inject } from './inject.ts';
import { readPublished } from './published.ts';

const SEED = numberFromEnv('TASKMESH_SEED', 20_261_121);
const OWNERS = 4;
/** A writer pauses this long on average: more would only slow the restarts down. */
const PACE_MS = 100;
/** How long the load runs at most between two kills. */
const CALM_MS = 500;
/** Tasks is killed again and again while it deletes accounts, and once right after auth. */
const VICTIMS = ['gateway-1', 'tasks', 'tasks', 'tasks', 'auth', 'tasks', 'kafka', 'postgres'];

const random = createRandom(SEED);
const faulty = useStack('kill');

it('kill -9 of any process of the stack under load loses, repeats and reorders nothing in any protocol, even if Kafka comes back empty, deletes accounts once and wholly, and does not affect others', async () => {
  const { stack } = faulty;
  const kill = async (target: string) => {
    await inject(faulty, { target, kind: 'kill', forMs: 0 });
    await sleep(CALM_MS * random());
  };
  /** Between two of the many statements of a deletion. */
  const isDeleting = async () => {
    const left = 'select from closed_owners join tasks on user_id = owner_id limit 1';
    expect(await queryStore(stack, 'tasks', left)).toHaveLength(1);
  };
  const published = await readPublished(stack);
  atEnd(() => published.close());
  const options = { ...faulty, stack, published, mark: `guest-${SEED}`, random, rooms: 2 };
  const bystanders = await createBystanders(stack, `bystander-${SEED}`);
  const before = await bystanders.rows();
  const names = Array.from({ length: OWNERS }, (_, owner) => `killed-${owner}-of-${SEED}`);
  const kept = await underLoad({ urls: stack.urls, random, paceMs: PACE_MS, names }, async (accounts) => {
    const guests = hostGuests(options);
    for (const target of VICTIMS) {
      if (target === 'tasks') await eventually(isDeleting, { timeoutMs: 60_000 });
      await kill(target);
    }
    await Promise.all([kill('backup'), kill('redis')]);
    const gone = await guests.stop();
    expect(await contradictingGuests(gone, [], options)).toEqual([]);
    expect(await bystanders.rows()).toEqual(before);
    console.info(`seed ${SEED}: ${gone.length} accounts deleted`);
    await inject(faulty, { target: 'kafka', kind: 'wipe', forMs: 0 });
    const admin = stack.processes.get('tasks')?.current.adminUrl ?? '';
    const isUp = async () =>
      ((await (await fetch(`${admin}/readyz?verbose`)).json()) as { checks: { eventLog: boolean } }).checks.eventLog;
    await eventually(isUp, { timeoutMs: 30_000 });
    // Enough writes for a verdict, however slow the machine is.
    const confirmed = () => accounts.reduce((sum, account) => sum + account.figures().confirmed, 0);
    await eventually(() => expect(confirmed()).toBeGreaterThan(200), { timeoutMs: 90_000 });
  });
  expectKept(kept);
}, 600_000);
