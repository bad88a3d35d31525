import { constants, setPriority } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { quantile } from '../figures.ts';
import type { Account } from './call.ts';
import { openConnection, openConnections } from './connections.ts';
import { inTurns, pace } from './paced.ts';
import type { Population } from './population.ts';

/** Lists at a steady pace: so long alone, and so long beside logins, of which so many are under way at any time. */
export interface BesideLoginsOrder {
  seconds: number;
  listsPerSecond: number;
  parallelLogins: number;
}

/** What lists at a steady pace showed, and how many logins went on beside them. */
export type BesideLoginsFigures = Awaited<ReturnType<typeof listBesideLogins>>;

/** Short, so that whatever else the machine does falls into both kinds alike. */
const SLICE_S = 1;
/** Before a slice counts: all logins begin at once, and are spread by their waiting for each other from then on. */
const LEAD_IN_MS = 200;

/**
 * Lists over REST at a steady pace, in slices that take turns: alone, and while so many logins are under way all the
 * time. Only the lists' latencies count.
 */
export async function listBesideLogins(
  url: string,
  population: Population,
  { seconds, listsPerSecond, parallelLogins }: BesideLoginsOrder,
) {
  // A connection takes one request after the other; by turns, none waits while others are free.
  const lists = await openConnections(url, { operation: 'list', protocol: 'rest' }, population);
  const openLogin = (account: Account) => openConnection(url, { operation: 'login', protocol: 'rest' }, account);
  const logins = Array.from({ length: parallelLogins }, inTurns(population.readers)).map(openLogin);
  await Promise.all(logins.map((connection) => connection.inspect()));

  const latenciesMs: Record<'alone' | 'beside', number[]> = { alone: [], beside: [] };
  let loginCount = 0;
  let loginSeconds = 0;
  const slices = Math.max(1, Math.round(seconds / SLICE_S));
  const sliceSeconds = seconds / slices;
  const slice = async (kind: 'alone' | 'beside', counts: boolean) => {
    globalThis.gc?.(); // not while it is measured
    const startMs = performance.now();
    const untilMs = startMs + LEAD_IN_MS + sliceSeconds * 1_000;
    const busy = kind === 'beside' ? logins.map((connection) => connection.keepBusy(untilMs)) : [];
    await sleep(LEAD_IN_MS);
    const stretch = await pace(lists.next, { perSecond: listsPerSecond, seconds: sliceSeconds });
    // Those under way end before the next slice begins.
    const answered = (await Promise.all(busy)).flat();
    if (!counts) return;
    latenciesMs[kind].push(...stretch);
    loginCount += answered.length;
    if (kind === 'beside') loginSeconds += (performance.now() - startMs) / 1_000;
  };
  prioritise('PRIORITY_HIGH');
  // Whoever was idle while others were measured warms up first.
  for (let index = -1; index < slices; index++) {
    // Each kind follows the other as often as itself.
    const kinds = index % 2 === 0 ? (['alone', 'beside'] as const) : (['beside', 'alone'] as const);
    for (const kind of kinds) await slice(kind, index >= 0);
  }
  prioritise('PRIORITY_NORMAL');
  await Promise.all([lists, ...logins].map((connection) => connection.close()));
  const figuresOf = (latencies: number[]) => ({ p50Ms: quantile(latencies, 0.5), p99Ms: quantile(latencies, 0.99) });
  const [alone, beside] = [figuresOf(latenciesMs.alone), figuresOf(latenciesMs.beside)];
  return {
    /** Lists of both kinds. */
    requests: latenciesMs.alone.length + latenciesMs.beside.length,
    ...{ alone, beside },
    /** How many times the p99 alone the p99 beside logins is. */
    ratio: beside.p99Ms / alone.p99Ms,
    loginsPerSecond: loginCount / loginSeconds,
  };
}

/**
 * Clients are elsewhere: that they wait for a core of this machine is nothing that a server does to them. (In a trace of the
 * scheduler it was more than a quarter of the time of late answers.) Only root may go first.
 */
function prioritise(priority: 'PRIORITY_HIGH' | 'PRIORITY_NORMAL'): void {
  if (process.getuid?.() === 0) setPriority(constants.priority[priority]);
}
