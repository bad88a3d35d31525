import type { TopicMetadata } from './topic-metadata.ts';

/** As Kafka writes them: places in a log whose offset is still to be asked for. */
export const END = -1n;
export const BEGIN = -2n;

/** Where a reader stands in every partition of its topic. Lives as long as the reader, whatever happens to connections. */
export interface Positions {
  /** Takes in how the topic looks now; undefined means that it is not there. */
  reconcile(topic: TopicMetadata | undefined): void;
  /** The next offset to read; undefined when it is still to be asked for. */
  offset(partition: number): bigint | undefined;
  /** What to ask for, in the form of a request for offsets. */
  unknownOf(partitions: number[]): { partition: number; at: bigint }[];
  moveTo(partition: number, offset: bigint): void;
  /** Whether everything that is published from now on will be seen. */
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
      // What comes later was made while we were reading, so all of it is ours to read.
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
