import type { Backoff } from '@taskmesh/service';

/** For every request to a broker that does not answer. */
export const BACKOFF: Backoff = { firstMs: 50, longestMs: 1_000 };
