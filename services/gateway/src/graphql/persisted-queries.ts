import type { KeyValue } from '@taskmesh/key-value';
import { TextCache } from '../graph/document-cache.ts';

const TTL_S = 24 * 60 * 60;
const LOCAL_BUDGET_CHARS = 64 * 1024;

/** Automatic persisted queries, shared by the gateways; each keeps the hashes it saw, so that it seldom has to ask. */
export function createPersistedQueries(keyValue: KeyValue) {
  const local = new TextCache<string>(LOCAL_BUDGET_CHARS);
  return {
    async get(key: string): Promise<string | undefined> {
      const known = local.get(key);
      if (known !== undefined) return known;
      const shared = (await keyValue.get(key)) ?? undefined;
      if (shared !== undefined) local.set(key, shared);
      return shared;
    },
    async set(key: string, source: string): Promise<void> {
      local.set(key, source);
      await keyValue.set(key, source, { ttlSeconds: TTL_S });
    },
    async delete(key: string): Promise<void> {
      await keyValue.delete(key);
    },
  };
}
