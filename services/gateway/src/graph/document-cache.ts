import { LRUCache } from 'lru-cache';

/** What is asked for a second time has this much of the budget. */
const PROVEN_SHARE = 0.75;

export interface DocumentCache<Value extends object> {
  get(key: string): Value | undefined;
  /** `bytes`: about how much memory `value` holds. */
  set(key: string, value: Value, bytes: number): void;
  readonly bytes: number;
}

/**
 * Values by text, bounded by the memory that they hold: the one that was not asked for the longest goes first. Those that
 * were asked for again have a part of their own, so that no flood of new ones drives them out.
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
