import { LRUCache } from 'lru-cache';

/** The share of the budget reserved for values that were requested again. */
const PROVEN_SHARE = 0.75;

export interface DocumentCache<Value extends object> {
  get(key: string): Value | undefined;
  /** `bytes` is roughly how much memory `value` holds. */
  set(key: string, value: Value, bytes: number): void;
  readonly bytes: number;
}

/**
 * A cache bounded by the memory that its values hold, evicting the least recently used first. Values that were
 * requested again have a share of their own, so that a flood of new ones cannot evict them.
 */
export function createDocumentCache<Value extends object>(maxBytes: number): DocumentCache<Value> {
  const fresh = new LRUCache<string, Value>({ maxSize: Math.ceil(maxBytes * (1 - PROVEN_SHARE)) });
  const proven = new LRUCache<string, Value>({ maxSize: Math.floor(maxBytes * PROVEN_SHARE) });
  const sizes = new WeakMap<Value, number>();
  return {
    get(key) {
      const known = proven.get(key);
      if (known) return known;
      const again = fresh.get(key);
      if (!again) return undefined;
      fresh.delete(key);
      proven.set(key, again, { size: sizes.get(again) ?? 1 });
      return again;
    },
    set(key, value, bytes) {
      sizes.set(value, bytes);
      fresh.set(key, value, { size: bytes });
    },
    get bytes() {
      return fresh.calculatedSize + proven.calculatedSize;
    },
  };
}
