import type { Backoff } from '@taskmesh/service';

export const BACKOFF: Backoff = { firstMs: 50, longestMs: 1_000 };
