import { LRUCache } from 'lru-cache';

/** The share of the budget reserved for values that were requested again. */
const PROVEN_SHARE = 0.75;

export interface DocumentCache<Value extends object> {
  get(key: string): Value | undefined;
  /** `bytes` is how much memory `value` holds. */
  set(key: string, value: Value, bytes: number): void;
  /** Called when `value` holds more than before, or less (negative). It may be evicted by that, or have been. */
  resize(key: string, value: Value, bytes: number): void;
  readonly bytes: number;
}

/**
 * A cache bounded by the memory that its values hold, evicting the least recently used first. Values that were
 * requested again have a share of their own, so that a flood of new ones cannot evict them.
 */
export function createDocumentCache<Value extends object>(maxBytes: number): DocumentCache<Value> {
  const fresh = new LRUCache<string, Value>({ maxSize: Math.ceil(maxBytes * (1 - PROVEN_SHARE)) });
  const proven = new LRUCache<string, Value>({ maxSize: Math.floor(maxBytes * PROVEN_SHARE) });
  const sizeIn = (part: LRUCache<string, Value>, key: string) => part.info(key)?.size ?? 0;
  return {
    get(key) {
      const known = proven.get(key);
      if (known) return known;
      const again = fresh.get(key);
      if (!again) return undefined;
      proven.set(key, again, { size: sizeIn(fresh, key) });
      fresh.delete(key);
      return again;
    },
    set(key, value, bytes) {
      fresh.set(key, value, { size: bytes });
    },
    resize(key, value, bytes) {
      const part = proven.peek(key) === value ? proven : fresh;
      if (part.peek(key) !== value) return;
      const size = sizeIn(part, key) + bytes;
      part.delete(key); // setting the same value again would leave its size as it was
      part.set(key, value, { size });
    },
    get bytes() {
      return fresh.calculatedSize + proven.calculatedSize;
    },
  };
}
