import type { Skipped } from '../loader/dump-schema.ts';

/** How a restore ended, by the rules of the endpoint. The texts are for the caller. */
export type RestoreOutcome =
  /** `skipped`: what of the dumps was passed over. */
  | { kind: 'restored'; skipped: Skipped[] }
  /** The archive was fine, the stores are as they were; `why` is a part of a sentence. */
  | { kind: 'processed'; why: string }
  | { kind: 'file-missing' }
  | { kind: 'outside' }
  | { kind: 'not-found' }
  | { kind: 'extraction-failed'; error: string }
  | { kind: 'failed'; error: string };
