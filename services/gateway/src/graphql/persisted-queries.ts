import type { KeyValue } from '@taskmesh/key-value';
import { LRUCache } from 'lru-cache';
import { createHash } from 'node:crypto';

const DAY_S = 24 * 60 * 60;
const LOCAL_BUDGET_CHARS = 256 * 1024;
/** Longer documents run, but are not kept. */
const MAX_DOCUMENT_BYTES = 16 * 1024;
/** How many new documents are kept per day: for one caller, one network (with however many accounts) and all together. */
const PER_CALLER = 200;
const PER_NETWORK = 400;
const OF_ALL = 2_000;
const ALL = 'all';
/** The length of a SHA-256 in hexadecimal digits. Clients may send anything as a hash. */
const HASH_LENGTH = 64;

/** Automatic persisted queries, shared by all gateways. Each caches some locally to save lookups. */
export interface PersistedQueries {
  get(hash: string): Promise<string | undefined>;
  /** Keeps a document that may run, unless the caller or its network has reached the limit. */
  keep(hash: string, source: string, by: { caller: string; network: string }): Promise<void>;
}

/** For gateways that run only trusted documents. */
export const NO_PERSISTED_QUERIES: PersistedQueries = { get: async () => undefined, keep: async () => undefined };

export function createPersistedQueries(keyValue: KeyValue): PersistedQueries {
  const local = new LRUCache<string, string>({ maxSize: LOCAL_BUDGET_CHARS, sizeCalculation: (text) => text.length });
  const limiter = (name: string, points: number) => keyValue.limiter({ name, points, windowSeconds: DAY_S });
  const ofCaller = limiter('persisted-queries', PER_CALLER);
  const ofNetwork = limiter('persisted-queries-of-network', PER_NETWORK);
  const ofAll = limiter('persisted-queries-of-all', OF_ALL);

  /** Peeks at the shared limits before it counts, so that attempts beyond those are not charged to the caller. */
  const mayKeep = async ({ caller, network }: { caller: string; network: string }): Promise<boolean> =>
    (await ofAll.peek(ALL)).allowed &&
    (await ofNetwork.peek(network)).allowed &&
    (await ofCaller.consume(caller)).allowed &&
    (await ofNetwork.consume(network)).allowed &&
    (await ofAll.consume(ALL)).allowed;

  return {
    async get(hash) {
      if (hash.length !== HASH_LENGTH) return undefined;
      const known = local.get(hash);
      if (known !== undefined) return known;
      const shared = await keyValue.get(keyOf(hash));
      if (!shared || !isHashOf(hash, shared)) return undefined;
      local.set(hash, shared);
      return shared;
    },
    async keep(hash, source, by) {
      if (Buffer.byteLength(source) > MAX_DOCUMENT_BYTES || mayHoldPassword(source)) return;
      // The shared copy expires before the local ones.
      if (local.has(hash) ? await keyValue.get(keyOf(hash)) : !(await mayKeep(by))) return;
      local.set(hash, source);
      await keyValue.set(keyOf(hash), source, { ttlSeconds: DAY_S });
    },
  };
}

/** Whether a mutation has strings in its text, not only in its variables. */
const mayHoldPassword = (source: string) => source.includes('mutation') && source.includes('"');

export function isHashOf(hash: string, source: string): boolean {
  return createHash('sha256').update(source).digest('hex') === hash;
}

function keyOf(hash: string): string {
  return `apq:${hash}`;
}
