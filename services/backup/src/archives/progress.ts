import type { WorkProgress } from '@taskmesh/internal-api';

/** The progress of long work. Reported often; the receiver throttles it. */
export interface BackupProgress extends WorkProgress {
  /**
   * Backup: `dump` for each store, then `compress`. Verification and restore: `extract`, then `load` and `check` for
   * each store; restore: `swap`; dry run: `compare`. Scan: `scan`.
   */
  phase: 'dump' | 'compress' | 'extract' | 'load' | 'check' | 'compare' | 'swap' | 'scan';
}

export type OnProgress = (progress: BackupProgress) => void;
