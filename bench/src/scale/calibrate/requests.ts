import type { Operation } from '../../operations.ts';
import { atRandom } from '../load/at-random.ts';
import { openRequests } from '../load/requests.ts';
import { roundsPerS, type Amounts, type Part } from '../model/work.ts';
import type { Stretch } from '../stretch.ts';
import { standing, type Run } from './run.ts';

/** In a second: enough to see each cost above what processes do anyway, and far from what two cores can do. */
const RATES: Record<Operation, number> = { list: 60, get: 150, statistics: 150, create: 80, update: 80, login: 5 };
const OPERATIONS: Operation[] = ['list', 'get', 'statistics', 'create', 'update', 'login'];
const REST: Part[] = ['gateway', 'tasks', 'postgres'];
const LOGIN: Part[] = ['gateway', 'auth', 'postgres', 'redis'];

export interface Requested extends Stretch {
  count: number;
}

/** Whatever is slow the first times is so before anything counts. */
export async function warmUp(run: Pick<Run, 'stack' | 'population' | 'seconds'>): Promise<void> {
  for (const operation of OPERATIONS) {
    const requests = await openRequests(run.stack.urls, operation, run.population);
    await atRandom(requests.next, { perSecond: RATES[operation], seconds: run.seconds / 2 });
    await requests.close();
  }
}

/** Requests that change nothing. Gives the logins, whose commands at Redis are of interest. */
export async function learnReads(run: Run): Promise<Requested> {
  for (const operation of ['list', 'get', 'statistics'] as const) await learn(run, operation, REST, () => ({}));
  return learn(run, 'login', LOGIN, () => ({}));
}

/** Writes; what brings them to the feed is known already. */
export async function learnWrites(run: Run, roundMs: number): Promise<Requested[]> {
  const publishing = (count: number, perSecond: number): Amounts => {
    const rounds = (roundsPerS(perSecond, roundMs) * count) / perSecond;
    return { change: count, record: count, round: rounds, fetch: rounds };
  };
  return [await learn(run, 'create', REST, publishing), await learn(run, 'update', REST, publishing)];
}

async function learn(
  run: Run,
  operation: Operation,
  parts: Part[],
  besides: (count: number, perSecond: number) => Amounts,
): Promise<Requested> {
  const { stack, population, seconds } = run;
  const perSecond = RATES[operation];
  const requests = await openRequests(stack.urls, operation, population);
  await atRandom(requests.next, { perSecond, seconds: seconds / 4 });
  let count = 0;
  const taken = await run.measure(
    operation,
    async () => (count = await atRandom(requests.next, { perSecond, seconds })),
  );
  await requests.close();
  const amounts = { ...standing(taken.seconds), ...besides(count, perSecond), [operation]: count };
  run.learn({ kind: operation, parts, amounts }, taken.cpu);
  return { ...taken, count };
}
