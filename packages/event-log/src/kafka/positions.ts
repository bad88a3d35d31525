import type { TopicMetadata } from './topic-metadata.ts';

/** Kafka's values for positions whose offset is not known yet. */
export const END = -1n;
export const BEGIN = -2n;

/** A reader's position in each partition of its topic. Survives reconnects. */
export interface Positions {
  /** Applies the topic's current metadata; undefined means that there is no such topic. */
  reconcile(topic: TopicMetadata | undefined): void;
  /** The next offset to read; undefined while it is unknown. */
  offset(partition: number): bigint | undefined;
  unknownOf(partitions: number[]): { partition: number; at: bigint }[];
  moveTo(partition: number, offset: bigint): void;
  /** Whether everything published from now on will be seen. */
  areSettled(): boolean;
}

export function createPositions(): Positions {
  const offsets = new Map<number, bigint>();
  let topicId: string | undefined;
  let wasSeen = false;
  let newOnesBeginAt = END;

  return {
    reconcile(topic) {
      if (topic) {
        if (topicId !== undefined && topicId !== topic.id) offsets.clear(); // another log under the same name
        topicId = topic.id;
        for (const { partition } of topic.partitions) {
          if (!offsets.has(partition)) offsets.set(partition, newOnesBeginAt);
        }
      }
      // Partitions that appear later are new, so they are read from the beginning.
      wasSeen = true;
      newOnesBeginAt = BEGIN;
    },
    offset(partition) {
      const offset = offsets.get(partition);
      return offset !== undefined && offset >= 0n ? offset : undefined;
    },
    unknownOf: (partitions) =>
      partitions.flatMap((partition) => {
        const at = offsets.get(partition) ?? newOnesBeginAt;
        return at < 0n ? [{ partition, at }] : [];
      }),
    moveTo: (partition, offset) => void offsets.set(partition, offset),
    areSettled: () => wasSeen && [...offsets.values()].every((offset) => offset !== END),
  };
}
