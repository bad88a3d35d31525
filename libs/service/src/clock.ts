/** Returns Unix milliseconds. */
export interface Clock {
  now(): number;
}

/** For durations: unlike the system's clock, nothing sets it. Its origin is arbitrary. */
export const monotonicClock: Clock = { now: () => performance.now() };

export const systemClock: Clock = { now: () => Date.now() };
