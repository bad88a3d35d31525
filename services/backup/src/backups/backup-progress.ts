/** How far a long piece of work is. Told often: who shows it decides how often. */
export interface BackupProgress {
  /** Making: `dump` of each store, then `compress`. Verifying and restoring: `extract`, then `load` and `check` of each store; restoring: `swap`; trying a restore: `compare`. Scanning: `scan`. */
  phase: 'dump' | 'compress' | 'extract' | 'load' | 'check' | 'compare' | 'swap' | 'scan';
  store?: string;
  doneBytes?: number;
  totalBytes?: number;
  /** Of the store, so far. */
  rows?: number;
}

export type OnProgress = (progress: BackupProgress) => void;
