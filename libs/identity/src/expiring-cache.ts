/** A bounded map of entries that expire. `set` evicts the oldest: those that have expired, and one more if it is full. */
export class ExpiringCache<Value> {
  readonly #entries = new Map<string, { value: Value; until: number }>();
  readonly #size: number;

  constructor(size: number) {
    this.#size = size;
  }

  /** `now` is in the same unit as `until`. */
  get(key: string, now: number): Value | undefined {
    const entry = this.#entries.get(key);
    if (entry && entry.until > now) return entry.value;
    this.#entries.delete(key);
    return undefined;
  }

  set(key: string, value: Value, { until, now }: { until: number; now: number }): void {
    this.#entries.delete(key);
    for (const [oldest, entry] of this.#entries) {
      if (entry.until > now && this.#entries.size < this.#size) break;
      this.#entries.delete(oldest);
    }
    this.#entries.set(key, { value, until });
  }

  delete(key: string): void {
    this.#entries.delete(key);
  }
}
