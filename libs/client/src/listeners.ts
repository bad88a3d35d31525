/** Who wants to hear of something. One that throws harms no other: its error goes to the host, as an unhandled one. */
export interface Listeners<Args extends unknown[]> {
  /** The returned function takes it back. */
  add(listener: (...args: Args) => void): () => void;
  tell(...args: Args): void;
}

export function createListeners<Args extends unknown[]>(): Listeners<Args> {
  const all = new Set<{ listener: (...args: Args) => void }>();
  return {
    add(listener) {
      const entry = { listener }; // the same function may be added twice
      all.add(entry);
      return () => void all.delete(entry);
    },
    tell(...args) {
      for (const { listener } of [...all])
        try {
          listener(...args);
        } catch (error) {
          reportError(error);
        }
    },
  };
}

/** Browsers have a function for this; elsewhere it is an unhandled rejection. */
function reportError(error: unknown): void {
  void Promise.reject(error);
}
