import type { TopicMetadata } from './topic-metadata.ts';

/** Kafka's special timestamps, which stand for offsets that are not known yet. */
export const END = -1n;
export const BEGIN = -2n;

/** A reader's position in each partition of its topic. Kept across reconnects. */
export type Positions = ReturnType<typeof createPositions>;

export function createPositions() {
  const offsets = new Map<number, bigint>();
  let topicId: string | undefined;
  let wasSeen = false;
  let newPartitionsStartAt = END;

  return {
    /** Applies the topic's current metadata; undefined means that the topic does not exist. */
    reconcile(topic: TopicMetadata | undefined) {
      if (topic) {
        if (topicId !== undefined && topicId !== topic.id) offsets.clear(); // recreated under the same name
        topicId = topic.id;
        for (const { partition } of topic.partitions) {
          if (!offsets.has(partition)) offsets.set(partition, newPartitionsStartAt);
        }
      }
      // Partitions that appear later are new: read them from the beginning.
      wasSeen = true;
      newPartitionsStartAt = BEGIN;
    },
    /** The next offset to read; undefined while it is unknown. */
    offset(partition: number): bigint | undefined {
      const offset = offsets.get(partition);
      return offset !== undefined && offset >= 0n ? offset : undefined;
    },
    unknownOf: (partitions: number[]): { partition: number; at: bigint }[] =>
      partitions.flatMap((partition) => {
        const at = offsets.get(partition) ?? newPartitionsStartAt;
        return at < 0n ? [{ partition, at }] : [];
      }),
    moveTo: (partition: number, offset: bigint): void => void offsets.set(partition, offset),
    /** Whether the reader will see all records published from now on. */
    areSettled: () => wasSeen && [...offsets.values()].every((offset) => offset !== END),
  };
}
