import type { Backoff } from '@taskmesh/service';

/** Of whatever asks a broker that does not answer. */
export const BACKOFF: Backoff = { firstMs: 50, longestMs: 1_000 };
