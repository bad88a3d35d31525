import { openConnections } from '../../load/connections.ts';
import { pace } from '../../load/paced.ts';
import type { Operation } from '../../operations.ts';
import { roundsPerS, type Amounts, type Part } from '../model/work.ts';
import type { Run } from './run.ts';

/** In a second: enough to see each cost above what processes do anyway, and far from what two cores can do. */
const RATES: Record<Operation, number> = { list: 60, get: 150, statistics: 150, create: 80, update: 80, login: 5 };
const OPERATIONS: Operation[] = ['list', 'get', 'statistics', 'create', 'update', 'login'];
const REST: Part[] = ['gateway', 'tasks', 'postgres'];
const LOGIN: Part[] = ['gateway', 'auth', 'postgres', 'redis'];

/** Whatever is slow the first times is so before anything counts. */
export async function warmUp(run: Run): Promise<void> {
  for (const operation of OPERATIONS) await withRequests(run, operation, (send) => send(run.seconds / 2));
}

/** Requests that change nothing. Gives the logins, whose commands at Redis are of interest. */
export async function learnReads(run: Run) {
  for (const operation of ['list', 'get', 'statistics'] as const) await learn(run, operation, REST);
  return learn(run, 'login', LOGIN);
}

/** Writes; what brings them to the feed is known already. */
export async function learnWrites(run: Run, roundMs: number) {
  const publishing = (count: number, perSecond: number): Amounts => {
    const rounds = (roundsPerS(perSecond, roundMs) * count) / perSecond;
    return { change: count, record: count, round: rounds, fetch: rounds };
  };
  return [await learn(run, 'create', REST, publishing), await learn(run, 'update', REST, publishing)];
}

function learn(
  run: Run,
  operation: Operation,
  parts: Part[],
  besides: (count: number, perSecond: number) => Amounts = () => ({}),
) {
  const { seconds } = run;
  return withRequests(run, operation, async (send) => {
    await send(seconds / 4);
    let count = 0;
    const taken = await run.measure(operation, async () => (count = await send(seconds)));
    run.learn(operation, parts, { ...besides(count, RATES[operation]), [operation]: count }, taken);
    return { ...taken, count };
  });
}

/** `send` sends requests for so many seconds and tells how many they were. Answers are checked. */
async function withRequests<Result>(
  { stack, population }: Run,
  operation: Operation,
  use: (send: (seconds: number) => Promise<number>) => Promise<Result>,
): Promise<Result> {
  const requests = await openConnections(stack.urls, { operation, protocol: 'rest' }, population);
  const rate = { perSecond: RATES[operation], random: Math.random };
  try {
    return await use(async (seconds) => (await pace(requests.next, { ...rate, seconds })).length);
  } finally {
    await requests.close();
  }
}
