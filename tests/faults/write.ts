import type { StreamedChange } from '../feed/streams/stream.ts';

/** A write that was sent. Titles are unique, so that a change can be matched to its write. */
export interface Write {
  kind: StreamedChange['kind'];
  title?: string;
  /** The id of the task; for a create, known once it is confirmed. */
  taskId?: string;
  /** `confirmed`: done. `denied`: not done. `unknown`: there was no definite response, so it may be either. */
  outcome: 'confirmed' | 'denied' | 'unknown';
  sentAt: number;
  /** Infinity without a response. */
  answeredAt: number;
  /** The API and the gateway, for reports. */
  via?: string;
}
