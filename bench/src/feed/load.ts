import { setTimeout as sleep } from 'node:timers/promises';
import { roundRobin, pace } from '../load/connections.ts';
import { quantile } from '../run/figures.ts';
import { openListeners, syncClock, type SocketKind } from './sockets.ts';
import { openSource, type Source, type SourceName, type Sources } from './sources.ts';
import type { User } from './users.ts';

export interface FeedLoadOptions {
  url: string;
  kind: SocketKind;
  users: User[];
  socketsPerOwner: number;
  sources: Sources;
}

export interface StretchOptions {
  source: SourceName;
  changesPerS: number;
  seconds: number;
}

export type FeedLoad = Awaited<ReturnType<typeof openFeedLoad>>;

const PRIME_TIMEOUT_MS = 60_000;
const PRIME_RETRY_MS = 2_000;
const PRIME_BATCH = 100;

/** Opens the sockets; resolves when each has received a change, because not every protocol confirms a subscription. */
export async function openFeedLoad({ url, kind, users, socketsPerOwner, sources }: FeedLoadOptions) {
  const opened = new Map<SourceName, Promise<Source>>();
  const listeners = await openListeners({ kind, groups: [{ url, users }], socketsPerOwner });
  let n = 0;
  const sourceOf = (name: SourceName) => {
    const source = opened.get(name) ?? openSource(name, sources);
    opened.set(name, source);
    return source;
  };
  const prime = async () => {
    const source = await sourceOf(sources.tasksDatabase ? 'commit' : 'http');
    const made = new Map<string, number>();
    const missing = () => users.filter(({ id }) => listeners.lastOf(id).some((last) => last !== made.get(id)));
    const deadline = performance.now() + PRIME_TIMEOUT_MS;
    for (let left = users; left.length > 0; left = missing()) {
      if (performance.now() > deadline) throw new Error(`Sockets of ${left.length} owners receive nothing.`);
      for (const { id } of left) made.set(id, ++n);
      const changes = left.map(({ id }) => ({ n: made.get(id) ?? 0, ownerId: id }));
      while (changes.length > 0) await source.make(changes.splice(0, PRIME_BATCH));
      for (const retryAt = performance.now() + PRIME_RETRY_MS; performance.now() < retryAt; await sleep(5)) {
        listeners.check();
        if (missing().length === 0) break;
      }
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
    /** Makes changes for the owners in turn, at an even pace. @throws unless all messages arrive */
    async run({ source: name, changesPerS, seconds }: StretchOptions) {
      const source = await sourceOf(name);
      syncClock();
      const start = performance.now();
      const madeAt = new Map<number, number>();
      const nextUser = roundRobin(users);
      // At high rates, changes of several owners are made together, because making them is not measured.
      const batchSize = Math.max(1, Math.min(users.length, Math.floor(changesPerS / 500)));
      const make = async () => {
        const changes = Array.from({ length: batchSize }, () => ({ n: ++n, ownerId: nextUser().id }));
        const at = await source.make(changes);
        for (const change of changes) madeAt.set(change.n, at);
      };
      const { numbers, times } = await listeners.expect(
        () => madeAt.size * socketsPerOwner,
        () => pace(make, { perSecond: changesPerS / batchSize, seconds }),
      );
      const took = (performance.now() - start) / 1000;
      const latencies = numbers.map((number, index) => (times[index] ?? NaN) - (madeAt.get(number) ?? NaN));
      const [p50Ms = NaN, p95Ms = NaN, p99Ms = NaN] = [0.5, 0.95, 0.99].map((q) => quantile(latencies, q));
      return { messages: numbers.length, changes: madeAt.size, seconds: took, p50Ms, p95Ms, p99Ms };
    },
    close,
  };
}
