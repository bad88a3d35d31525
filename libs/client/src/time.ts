/** Time and chance, as the client is given them. */
export interface Time {
  /** Unix milliseconds. */
  now(): number;
  /** From 0 to below 1. */
  random(): number;
  /** Calls once, after so many milliseconds; the returned function takes that back. */
  after(ms: number, call: () => void): () => void;
}

/** Longer ones end at once: https://developer.mozilla.org/docs/Web/API/Window/setTimeout#maximum_delay_value */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

export const realTime: Time = {
  now: Date.now,
  random: Math.random,
  after(ms, call) {
    const timer = setTimeout(call, Math.min(ms, LONGEST_TIMER_MS));
    return () => clearTimeout(timer);
  },
};

const FIRST_MS = 250;
const LONGEST_MS = 30_000;
/** Slow enough that a network which comes and goes is found soon when it has come. */
const GROWTH = 1.5;

/** How long to wait before the next try: longer after each failure, and not all clients for the same time. */
export function backOffMs(failures: number, { random }: Pick<Time, 'random'>): number {
  return Math.min(LONGEST_MS, FIRST_MS * GROWTH ** failures) * (0.5 + random() / 2);
}

/** Somebody waits, until the time is over or a reason comes to try at once. */
export interface Pause {
  /** Resolves after so long, or at the next `end`. */
  wait(ms: number): Promise<void>;
  end(): void;
}

export function createPause({ after }: Pick<Time, 'after'>): Pause {
  let end = () => {};
  return {
    async wait(ms) {
      const over = Promise.withResolvers<void>();
      end = over.resolve;
      const cancel = after(ms, end);
      await over.promise;
      cancel();
    },
    end: () => end(),
  };
}
