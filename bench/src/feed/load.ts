import { setTimeout as sleep } from 'node:timers/promises';
import { inTurns, pace } from '../load/connections.ts';
import type { Sources } from '../machine/targets.ts';
import { quantile } from '../run/figures.ts';
import { nowMs, openListeners, setClock, type ListenerOptions } from './sockets.ts';
import { openSource, type Source, type SourceName } from './sources.ts';

export interface FeedLoadOptions extends ListenerOptions {
  sources: Sources;
}

export interface StretchOrder {
  source: SourceName;
  changesPerS: number;
  seconds: number;
}

/** What one stretch showed: latencies of single messages, and the seconds until the last one arrived. */
export type StretchFigures = Awaited<ReturnType<FeedLoad['run']>>;
export type FeedLoad = Awaited<ReturnType<typeof openFeedLoad>>;

/** How long changes may take to arrive everywhere. */
const ARRIVAL_MS = 60_000;
const PRIME_BATCH = 100;

/** Opens the sockets; resolves when each has received a change: not every protocol says that it has subscribed. */
export async function openFeedLoad(options: FeedLoadOptions) {
  const { users, sources, socketsPerOwner } = options;
  const opened = new Map<SourceName, Promise<Source>>();
  const listeners = await openListeners(options);
  const lastMade = new Map<string, number>();
  let n = 0;

  const sourceOf = (name: SourceName) => {
    const source = opened.get(name) ?? openSource(name, sources);
    opened.set(name, source);
    return source;
  };
  const due = (ownerId: string) => {
    lastMade.set(ownerId, ++n);
    return { n, ownerId };
  };
  const missing = () => users.filter(({ id }) => listeners.lastOf(id).some((last) => last !== lastMade.get(id)));
  const arrived = async (withinMs: number) => {
    for (const deadline = performance.now() + withinMs; performance.now() < deadline; await sleep(5)) {
      listeners.check();
      if (missing().length === 0) return;
    }
  };
  const prime = async () => {
    const source = await sourceOf(sources.tasksDatabase ? 'commit' : 'http');
    const deadline = performance.now() + ARRIVAL_MS;
    for (let left = users; left.length > 0; left = missing()) {
      if (performance.now() > deadline) throw new Error(`Sockets of ${left.length} owners receive nothing.`);
      for (let from = 0; from < left.length; from += PRIME_BATCH)
        await source.make(left.slice(from, from + PRIME_BATCH).map(({ id }) => due(id)));
      await arrived(2_000);
    }
  };
  const close = async () => {
    await listeners.close();
    for (const source of opened.values()) await (await source).close();
  };
  await prime().catch(async (error: unknown) => {
    await close();
    throw error;
  });
  return {
    /** Makes changes of the owners in turn at an even pace. @throws unless all messages arrive */
    async run({ source: name, changesPerS, seconds }: StretchOrder) {
      const source = await sourceOf(name);
      setClock();
      const { numbers, times } = listeners.record();
      const start = performance.now();
      const madeAt = new Map<number, number>();
      const nextUser = inTurns(users);
      // At high rates changes of several owners are made together: making them is not what is measured.
      const together = Math.max(1, Math.min(users.length, Math.floor(changesPerS / 500)));
      const make = async () => {
        const changes = Array.from({ length: together }, () => due(nextUser().id));
        const at = await source.make(changes);
        for (const change of changes) madeAt.set(change.n, at);
      };
      await pace(make, { perSecond: changesPerS / together, seconds });
      await arrived(ARRIVAL_MS);
      const took = (performance.now() - start) / 1000;
      const expected = madeAt.size * socketsPerOwner;
      if (numbers.length !== expected)
        throw new Error(`${numbers.length} of ${expected} messages arrived, ${missing().length} owners miss some.`);
      const latencies = numbers.map((number, index) => (times[index] ?? nowMs()) - (madeAt.get(number) ?? NaN));
      const [p50Ms = NaN, p95Ms = NaN, p99Ms = NaN] = [0.5, 0.95, 0.99].map((q) => quantile(latencies, q));
      return { messages: numbers.length, changes: madeAt.size, seconds: took, p50Ms, p95Ms, p99Ms };
    },
    close,
  };
}
