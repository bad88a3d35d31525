/** A bounded map whose entries each have an expiry time; when full, it evicts the entry that was set longest ago. */
export class ExpiringCache<Value> {
  readonly #entries = new Map<string, { value: Value; until: number }>();
  readonly #size: number;

  constructor(size: number) {
    this.#size = size;
  }

  /** `now` is in the same unit as `until`. */
  get(key: string, now: number): Value | undefined {
    const entry = this.#entries.get(key);
    if (!entry) return undefined;
    if (entry.until > now) return entry.value;
    this.#entries.delete(key);
    return undefined;
  }

  set(key: string, value: Value, until: number): void {
    this.#entries.delete(key);
    if (this.#entries.size >= this.#size) {
      const oldest = this.#entries.keys().next();
      if (!oldest.done) this.#entries.delete(oldest.value);
    }
    this.#entries.set(key, { value, until });
  }

  delete(key: string): void {
    this.#entries.delete(key);
  }
}
