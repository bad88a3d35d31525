import type { ReadList } from '../feed/streams/stream.ts';
import type { Write } from './write.ts';

/** The store was replaced by an archive between these two moments of `performance.now()`. */
export interface Restore {
  sentAt: number;
  answeredAt: number;
}

/** The epoch of a list that was read because the feed before it was reported to be over, or at the very beginning. */
export function epochOf({ readAt }: ReadList, restores: Restore[]): number {
  return restores.filter(({ sentAt }) => sentAt < readAt).length;
}

/** Whether a list may be of this epoch: while a restore runs, it is unknown from which store an answer came. */
export function mayBeListOf(list: ReadList, epoch: number, restores: Restore[]): boolean {
  const latest = epochOf(list, restores);
  const isBeside = list.readAt < (restores[latest - 1]?.answeredAt ?? -Infinity);
  return epoch === latest || (isBeside && epoch === latest - 1);
}

/** Whether a write may have been done in this epoch: it is unknown on which side of a restore it was that met one. */
export function mayBeOf({ sentAt, answeredAt }: Write, epoch: number, restores: Restore[]): boolean {
  return answeredAt > (restores[epoch - 1]?.sentAt ?? -Infinity) && sentAt < (restores[epoch]?.answeredAt ?? Infinity);
}

/** Whether a confirmed write is in no list and no epoch before: then it has to be delivered. */
export function isDue({ sentAt }: Write, { readAt }: ReadList, restores: Restore[]): boolean {
  return sentAt > Math.max(readAt, restores.at(-1)?.answeredAt ?? -Infinity);
}
