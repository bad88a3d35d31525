import { setTimeout as sleep } from 'node:timers/promises';
import { quantile } from '../../figures.ts';
import { inTurns, pace } from '../../load/paced.ts';
import type { Source } from '../cells.ts';
import { setClock } from './clock.ts';
import { openListeners, type ListenerOptions } from './listeners.ts';
import { openSource, type ChangeSource, type Due, type SourceAddresses } from './sources.ts';

export interface FeedLoadOptions extends ListenerOptions {
  sources: SourceAddresses;
}

export interface StretchOrder {
  source: Source;
  changesPerS: number;
  seconds: number;
}

/** What one stretch showed: latencies in milliseconds, of single messages, and the seconds until the last one arrived. */
export type StretchFigures = Awaited<ReturnType<FeedLoad['run']>>;

/** How long what was made may take to arrive everywhere. */
const ARRIVAL_MS = 60_000;
const PRIME_BATCH = 100;

export type FeedLoad = Awaited<ReturnType<typeof openFeedLoad>>;

/** Opens the sockets; resolves when every one of them has got a change: not every protocol says that it is subscribed. */
export async function openFeedLoad(options: FeedLoadOptions) {
  const { users, sources, socketsPerOwner } = options;
  const open = new Map<Source, Promise<ChangeSource>>();
  const listeners = await openListeners(options);
  const lastMade = new Map<string, number>();
  const sequences = new Map<string, number>();
  let n = 0;

  const sourceOf = (source: Source) => {
    const known = open.get(source) ?? openSource(source, sources);
    open.set(source, known);
    return known;
  };
  const due = (ownerId: string): Due => {
    const sequence = (sequences.get(ownerId) ?? 0) + 1;
    sequences.set(ownerId, sequence);
    lastMade.set(ownerId, ++n);
    return { n, ownerId, sequence };
  };
  const hasArrived = (ownerId: string) => listeners.lastOf(ownerId).every((last) => last === lastMade.get(ownerId));
  const missing = () => users.filter(({ id }) => !hasArrived(id));

  const arrived = async (withinMs: number, check: () => void) => {
    const deadline = performance.now() + withinMs;
    while (performance.now() < deadline) {
      check();
      if (users.every(({ id }) => hasArrived(id))) return;
      await sleep(5);
    }
  };

  const prime = async () => {
    const source = await sourceOf(sources.tasksDatabase ? 'commit' : sources.http ? 'http' : 'kafka');
    const { check } = listeners.record();
    const deadline = performance.now() + ARRIVAL_MS;
    for (let left = users; left.length > 0; left = missing()) {
      if (performance.now() > deadline) throw new Error(`${left.length} owners' sockets get nothing.`);
      for (let from = 0; from < left.length; from += PRIME_BATCH)
        await source.make(left.slice(from, from + PRIME_BATCH).map(({ id }) => due(id)));
      await arrived(2_000, check);
    }
  };

  /** Changes of the owners in turn, at an even pace; the numbers of those made and when each was. */
  const make = async (source: ChangeSource, { changesPerS, seconds }: StretchOrder) => {
    const madeAt = new Map<number, number>();
    const nextUser = inTurns(users);
    // At high rates several owners' changes are made together: what makes them is not what is measured.
    const perGo = Math.max(1, Math.min(users.length, Math.floor(changesPerS / 500)));
    const makeTogether = async () => {
      const changes = Array.from({ length: perGo }, () => due(nextUser().id));
      const at = await source.make(changes);
      for (const { n: made } of changes) madeAt.set(made, at);
    };
    await pace(makeTogether, { perSecond: changesPerS / perGo, seconds });
    return madeAt;
  };

  const close = async () => {
    await listeners.close();
    for (const source of open.values()) await (await source).close();
  };
  try {
    await prime();
  } catch (error) {
    await close();
    throw error;
  }
  return {
    /** All messages that are due arrive, or it fails. */
    async run(order: StretchOrder) {
      const source = await sourceOf(order.source);
      setClock();
      const recording = listeners.record();
      const start = performance.now();
      const madeAt = await make(source, order);
      await arrived(ARRIVAL_MS, recording.check);
      const seconds = (performance.now() - start) / 1000;
      const { numbers, times } = recording;
      const expected = madeAt.size * socketsPerOwner;
      if (numbers.length !== expected)
        throw new Error(`${numbers.length} of ${expected} messages arrived, ${missing().length} owners miss some.`);
      const latenciesMs = numbers.map((number, index) => (times[index] ?? NaN) - (madeAt.get(number) ?? NaN));
      const [p50Ms = NaN, p95Ms = NaN, p99Ms = NaN] = [0.5, 0.95, 0.99].map((q) => quantile(latenciesMs, q));
      return { messages: numbers.length, changes: madeAt.size, seconds, p50Ms, p95Ms, p99Ms };
    },
    close,
  };
}
