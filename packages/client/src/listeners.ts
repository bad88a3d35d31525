/** A set of listeners. If one throws, the others are still called and the error is reported as unhandled. */
export interface Listeners<Args extends unknown[]> {
  /** Returns a function that removes the listener. */
  add(listener: (...args: Args) => void): () => void;
  notify(...args: Args): void;
}

export function createListeners<Args extends unknown[]>(): Listeners<Args> {
  const all = new Set<{ listener: (...args: Args) => void }>();
  return {
    add(listener) {
      const entry = { listener }; // the same function may be added twice
      all.add(entry);
      return () => void all.delete(entry);
    },
    notify(...args) {
      for (const { listener } of [...all])
        try {
          listener(...args);
        } catch (error) {
          reportError(error);
        }
    },
  };
}

/** Reports an unhandled rejection, because only browsers have the global `reportError`. */
function reportError(error: unknown): void {
  void Promise.reject(error);
}
