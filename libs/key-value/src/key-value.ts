/**
 * A cache shared by the gateways, for data that may be lost: in Redis, or in the memory of a single process.
 *
 * Best effort by contract: while the store is unavailable, reads return null, writes are dropped, nothing throws, and
 * nothing takes longer than about 200 ms. A caller that needs reliable data must call a service.
 */
export interface KeyValue {
  /** The storage system. @default the memory of this process only */
  readonly system?: 'redis';
  get(key: string): Promise<string | null>;
  /** Replaces value and lifetime. A lifetime of 0 or less deletes the key. */
  set(key: string, value: string, options: { ttlSeconds: number }): Promise<void>;
  /** Counts points per key in a time window, shared by all limiters of the same `name`. */
  limiter(options: LimiterOptions): Limiter;
  isUp(): boolean;
  close(): Promise<void>;
}

export interface LimiterOptions {
  name: string;
  points: number;
  windowSeconds: number;
}

/**
 * Unlike the rest of the store, a limiter keeps working in an outage: it then counts in this process's memory, starting
 * from what this process has counted before.
 */
export interface Limiter {
  consume(key: string): Promise<LimiterResult>;
  /** Consumes no point. */
  peek(key: string): Promise<LimiterResult>;
  reset(key: string): Promise<void>;
}

export interface LimiterResult {
  /** False if the points were used up before this call. */
  allowed: boolean;
  /** Whole seconds until the window ends; 0 if no points are counted. */
  retryAfterSeconds: number;
}
