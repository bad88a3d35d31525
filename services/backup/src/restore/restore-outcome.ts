/** How a restore ended, by the rules of the endpoint. The texts are for the caller. */
export type RestoreOutcome =
  /** `dropped`: what the stores had no place for, as `store.table` or `store.table.column`. */
  | { kind: 'restored'; dropped: string[] }
  /** The archive was fine, the stores are as they were; `why` is a part of a sentence. */
  | { kind: 'processed'; why: string }
  | { kind: 'file-missing' }
  | { kind: 'outside' }
  | { kind: 'not-found' }
  | { kind: 'extraction-failed'; error: string }
  | { kind: 'failed'; error: string };
