import type { StreamedChange } from '../feed/streams/stream.ts';

/** A write that was sent. Titles are unique, so that a change identifies its writer. */
export interface Write {
  kind: StreamedChange['kind'];
  title?: string;
  /** Of a create: known once it is confirmed. */
  taskId?: string;
  /** `confirmed`: it is done. `denied`: it is not. `unknown`: there was no answer, so it may be either. */
  outcome: 'confirmed' | 'denied' | 'unknown';
  sentAt: number;
  /** Infinity without an answer. */
  answeredAt: number;
  /** How it was sent, for people. */
  via?: string;
}
