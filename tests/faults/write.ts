import type { ReadList, StreamedChange } from '../feed/streams/stream.ts';

/** A restore replaced the store between these two times (`performance.now()`). */
export interface Restore {
  sentAt: number;
  answeredAt: number;
}

/** Returns the epoch of a list that was read at the very beginning, or because the feed before it ended. */
export function epochOf({ readAt }: ReadList, restores: Restore[]): number {
  return restores.filter(({ sentAt }) => sentAt < readAt).length;
}

/** Whether a list may be of this epoch: during a restore, a response may come from either store. */
export function mayBeListOf(list: ReadList, epoch: number, restores: Restore[]): boolean {
  const latest = epochOf(list, restores);
  const isBeside = list.readAt < (restores[latest - 1]?.answeredAt ?? -Infinity);
  return epoch === latest || (isBeside && epoch === latest - 1);
}

/** Whether a write may have been done in this epoch: a write during a restore may belong to either side. */
export function mayBeOf({ sentAt, answeredAt }: Write, epoch: number, restores: Restore[]): boolean {
  return answeredAt > (restores[epoch - 1]?.sentAt ?? -Infinity) && sentAt < (restores[epoch]?.answeredAt ?? Infinity);
}

/** Whether a confirmed write must be delivered, because it was sent after the list was read and after the last restore. */
export function isDue({ sentAt }: Write, { readAt }: ReadList, restores: Restore[]): boolean {
  return sentAt > Math.max(readAt, restores.at(-1)?.answeredAt ?? -Infinity);
}

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
