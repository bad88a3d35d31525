/**
 * Values on their way from a source that does not wait to a consumer that may be slow. `push` says no when the consumer
 * is too far behind; what happens then is the source's to decide.
 */
export class BoundedQueue<Value> implements AsyncIterableIterator<Value> {
  readonly #limit: number;
  readonly #onReturn: () => void;
  #values: Value[] = [];
  #failure: unknown;
  #isDone = false;
  #wake: (() => void) | undefined;

  /** `onReturn` is called once, when the consumer stops. */
  constructor(limit: number, onReturn: () => void) {
    this.#limit = limit;
    this.#onReturn = onReturn;
  }

  /** False when the queue is full (the value is not taken then) or ended. */
  push(value: Value): boolean {
    if (this.#isDone || this.#values.length >= this.#limit) return false;
    this.#values.push(value);
    this.#wake?.();
    return true;
  }

  /** What was pushed before is still delivered; then the iteration throws `failure`. */
  fail(failure: unknown): void {
    if (this.#isDone) return;
    this.#isDone = true;
    this.#failure = failure;
    this.#wake?.();
  }

  /** Drops what is not delivered yet, and throws `failure` at once. */
  abort(failure: unknown): void {
    this.#values = [];
    this.fail(failure);
  }

  async next(): Promise<IteratorResult<Value>> {
    while (this.#values.length === 0 && !this.#isDone)
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    if (this.#values.length > 0) return { done: false, value: this.#values.shift() as Value }; // there is one
    if (this.#failure === undefined) return { done: true, value: undefined };
    const failure = this.#failure;
    this.#failure = undefined;
    throw failure;
  }

  async return(): Promise<IteratorResult<Value>> {
    this.#isDone = true;
    this.#failure = undefined;
    this.#values = [];
    this.#wake?.();
    this.#onReturn();
    return { done: true, value: undefined };
  }

  [Symbol.asyncIterator](): this {
    return this;
  }
}
