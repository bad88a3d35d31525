/** The clock, timers and randomness; tests replace them. */
export interface Time {
  /** Unix milliseconds. */
  now(): number;
  /** At least 0, less than 1. */
  random(): number;
  /** Calls `call` once after this time. Returns a function that cancels it. */
  after(ms: number, call: () => void): () => void;
}

/** Longer timers would fire at once: https://developer.mozilla.org/docs/Web/API/Window/setTimeout#maximum_delay_value */
const MAX_TIMER_MS = 2 ** 31 - 1;

export const realTime: Time = {
  now: Date.now,
  random: Math.random,
  after(ms, call) {
    const timer = setTimeout(call, Math.min(ms, MAX_TIMER_MS));
    return () => clearTimeout(timer);
  },
};

const FIRST_DELAY_MS = 250;
const MAX_DELAY_MS = 30_000;
/** Grows slowly, so that the client soon notices an intermittent network. */
const GROWTH = 1.5;

/** The pause before the next attempt: grows with each failure, with jitter so that clients do not retry together. */
export function backOffMs(failures: number, { random }: Pick<Time, 'random'>): number {
  return Math.min(MAX_DELAY_MS, FIRST_DELAY_MS * GROWTH ** failures) * (0.5 + random() / 2);
}

/** A pause that can be ended early when a retry may succeed at once. */
export function createPause({ after }: Pick<Time, 'after'>) {
  let end = () => {};
  return {
    /** Resolves after this time, or at the next `end`. */
    wait: (ms: number): Promise<void> =>
      new Promise((resolve) => {
        const cancel = after(ms, resolve);
        end = () => {
          cancel();
          resolve();
        };
      }),
    end: (): void => end(),
  };
}
