/** Time and randomness, which tests replace. */
export interface Time {
  /** Unix milliseconds. */
  now(): number;
  /** At least 0, less than 1. */
  random(): number;
  /** Calls back once, after this time. Returns how to cancel that. */
  after(ms: number, call: () => void): () => void;
}

/** Longer timers would end at once: https://developer.mozilla.org/docs/Web/API/Window/setTimeout#maximum_delay_value */
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
/** Slow growth, so that a network that comes and goes is soon noticed. */
const GROWTH = 1.5;

/** The pause before the next attempt: longer after each failure, and not the same for all clients. */
export function backOffMs(failures: number, { random }: Pick<Time, 'random'>): number {
  return Math.min(LONGEST_MS, FIRST_MS * GROWTH ** failures) * (0.5 + random() / 2);
}

/** A pause that ends early when there is a reason to try at once. */
export interface Pause {
  /** Resolves after this time, or at the next `end`. */
  wait(ms: number): Promise<void>;
  end(): void;
}

export function createPause({ after }: Pick<Time, 'after'>): Pause {
  let end = () => {};
  return {
    async wait(ms) {
      let cancel = () => {};
      await new Promise<void>((resolve) => {
        end = resolve;
        cancel = after(ms, resolve);
      });
      cancel();
    },
    end: () => end(),
  };
}
