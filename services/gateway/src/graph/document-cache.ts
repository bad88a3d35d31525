/** Values by text, bounded by the length of the texts: the one that was not asked for the longest goes first. */
export class TextCache<Value> {
  readonly #values = new Map<string, Value>();
  readonly #budget: number;
  #used = 0;

  /** `budget`: how many UTF-16 units all texts together may have. */
  constructor(budget: number) {
    this.#budget = budget;
  }

  get(text: string): Value | undefined {
    const value = this.#values.get(text);
    if (value === undefined) return undefined;
    this.#values.delete(text);
    this.#values.set(text, value);
    return value;
  }

  set(text: string, value: Value): void {
    if (!this.#values.has(text)) this.#used += text.length;
    this.#values.set(text, value);
    for (const oldest of this.#values.keys()) {
      if (this.#used <= this.#budget) break;
      this.#values.delete(oldest);
      this.#used -= oldest.length;
    }
  }
}
