import { constants, setPriority } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { quantile } from '../run/figures.ts';
import { CALLS } from './calls.ts';
import { roundRobin, openConnection, openConnections, pace, type Population } from './connections.ts';

export const PARALLEL_LOGINS = 50;
/** A steady load that leaves capacity, so that the effect of additional logins can be measured. */
export const LISTS_PER_SECOND = 200;

export type BesideLoginsFigures = Awaited<ReturnType<typeof listBesideLogins>>;

/** Short, so that disturbances of the machine affect both kinds alike. */
const SLICE_S = 1;
/** The time before a slice counts: all logins begin at once, and spread out as they wait. */
const LEAD_IN_MS = 200;

/** Sends lists over REST at a steady pace, in alternating slices: alone, and while logins are always in progress. */
export async function listBesideLogins(url: string, population: Population, seconds: number) {
  const lists = await openConnections(url, 'list', 'rest', population);
  const nextReader = roundRobin(population.readers);
  const logins = Array.from({ length: PARALLEL_LOGINS }, () => {
    const account = nextReader();
    return openConnection(url, (n) => CALLS.rest.login(account, n));
  });
  await Promise.all(logins.map((connection) => connection.inspect()));

  const latenciesMs: Record<'alone' | 'beside', number[]> = { alone: [], beside: [] };
  let loginCount = 0;
  let loginSeconds = 0;
  const slices = Math.max(1, Math.round(seconds / SLICE_S));
  const slice = async (kind: 'alone' | 'beside', counts: boolean) => {
    globalThis.gc?.(); // now, and not during the measurement
    const startMs = performance.now();
    const untilMs = startMs + LEAD_IN_MS + (seconds / slices) * 1_000;
    const busy = kind === 'beside' ? logins.map((connection) => connection.keepBusy(untilMs)) : [];
    await sleep(LEAD_IN_MS);
    const latencies = await pace(lists.next, { perSecond: LISTS_PER_SECOND, seconds: seconds / slices });
    const finished = (await Promise.all(busy)).flat(); // before the next slice begins
    if (!counts) return;
    latenciesMs[kind].push(...latencies);
    loginCount += finished.length;
    if (kind === 'beside') loginSeconds += (performance.now() - startMs) / 1_000;
  };
  prioritise('PRIORITY_HIGH');
  // The first slices are for warming up. Each kind follows the other as often as itself.
  for (let index = -1; index < slices; index++)
    for (const kind of index % 2 === 0 ? (['alone', 'beside'] as const) : (['beside', 'alone'] as const))
      await slice(kind, index >= 0);
  prioritise('PRIORITY_NORMAL');
  await Promise.all([lists, ...logins].map((connection) => connection.close()));
  const figuresOf = (latencies: number[]) => ({ p50Ms: quantile(latencies, 0.5), p99Ms: quantile(latencies, 0.99) });
  const [alone, beside] = [figuresOf(latenciesMs.alone), figuresOf(latenciesMs.beside)];
  return {
    /** Lists of both kinds. */
    requests: latenciesMs.alone.length + latenciesMs.beside.length,
    ...{ alone, beside },
    /** The p99 beside logins divided by the p99 alone. */
    ratio: beside.p99Ms / alone.p99Ms,
    loginsPerSecond: loginCount / loginSeconds,
  };
}

/** Raises our priority, because real clients do not compete with the servers for cores. Only root may do this. */
function prioritise(priority: 'PRIORITY_HIGH' | 'PRIORITY_NORMAL'): void {
  if (process.getuid?.() === 0) setPriority(constants.priority[priority]);
}
