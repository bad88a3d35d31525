/**
 * What gateways share to be faster, never what must not be lost: Redis, or memory in one process.
 *
 * Best effort by contract: while the store is away a read answers null, a write or a message is dropped, nothing throws,
 * and nothing takes longer than about 200 ms. Whoever needs the truth asks a service.
 */
export interface KeyValue {
  get(key: string): Promise<string | null>;
  /** Replaces value and lifetime. A lifetime of 0 or less keeps nothing, as if the key were deleted. */
  set(key: string, value: string, options: { ttlSeconds: number }): Promise<void>;
  delete(key: string): Promise<void>;
  /** Tells every subscriber, this process' own ones too, at most once. */
  publish(channel: string, message: string): Promise<void>;
  /**
   * Resolves within about 200 ms, whether the store is there or not; goes on after an outage by itself. When the store is
   * up, what is published afterwards arrives. An `onMessage` that throws is logged and harms nobody else.
   */
  subscribe(channel: string, onMessage: (message: string) => void): Promise<() => Promise<void>>;
  /** A counter of points per key over a time window, shared by all who use the same `name`. */
  limiter(options: LimiterOptions): Limiter;
  /** For the health page: whether the store answers right now. */
  isUp(): boolean;
  close(): Promise<void>;
}

export interface LimiterOptions {
  /** Keeps the counters of different limits apart. */
  name: string;
  /** How many points a key may consume within the window. */
  points: number;
  windowSeconds: number;
}

/**
 * Unlike the rest of the store, a limiter never gives way: while the store is away it counts in this process' memory, and
 * goes on from what this process has counted before.
 */
export interface Limiter {
  /** Takes one point. */
  consume(key: string): Promise<LimiterResult>;
  /** Looks without taking. */
  peek(key: string): Promise<LimiterResult>;
  /** Forgets the key's points. */
  reset(key: string): Promise<void>;
}

export interface LimiterResult {
  /** False when the points were used up before this call. */
  allowed: boolean;
  /** Whole seconds until the window ends; 0 when nothing is counted. */
  retryAfterSeconds: number;
}
