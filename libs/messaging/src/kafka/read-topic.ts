import { setTimeout as sleep } from 'node:timers/promises';
import type { Log } from '@taskmesh/service';
import { createErrorFromCode } from 'kafkajs/src/protocol/error.js';
import type { FetchedMessage, FetchedPartition } from 'kafkajs/src/protocol/requests/index.js';
import { deliver } from '../deliver.ts';
import type { LogRecord } from '../event-log.ts';
import type { Address } from './config.ts';
import type { Node } from './node.ts';
import { createNodes } from './nodes.ts';
import type { Positions } from './positions.ts';
import { toRecord } from './record.ts';
import { byLeader, type ClusterMetadata, type TopicMetadata } from './topic-metadata.ts';

const FETCH_WAIT_MS = 500;
const REFRESH_MS = 5_000;
/** While the topic or one of its leaders is missing, its coming must not wait for the next ordinary look. */
const REFRESH_INCOMPLETE_MS = 500;
const OFFSET_OUT_OF_RANGE = 1;

export interface TopicReading {
  topic: string;
  positions: Positions;
  /** Asked how the topic looks. */
  seed: Address;
  connect: (address: Address) => Node;
  signal: AbortSignal;
  onRecord: (record: LogRecord) => void;
  onBrokers: (addresses: Address[]) => void;
  /** Called when positions may have become known. */
  onPositions: () => void;
  /** Called when the log was read, or is known to be empty because there is no such topic. */
  onProgress: () => void;
  log: Log;
}

/**
 * Reads from the present leaders until the signal comes or the topic looks different. Rejects with the first failure of any
 * connection. Either way nothing is delivered afterwards and every connection is closed: the next call goes on from the
 * positions.
 */
export async function readTopic(reading: TopicReading): Promise<void> {
  const { topic, positions, seed, connect, signal, onBrokers, onPositions, onProgress } = reading;
  const over = new AbortController();
  const nodes = createNodes(connect);
  const end = () => {
    over.abort();
    nodes.close();
  };
  signal.addEventListener('abort', end, { once: true });

  const followers: Promise<void>[] = [];
  try {
    signal.throwIfAborted();
    const seedNode = nodes.open(seed);
    const metadata = await seedNode.metadata(topic);
    onBrokers(metadata.brokers);
    positions.reconcile(metadata.topic);
    onPositions();
    if (!metadata.topic) onProgress();
    // Partitions without a leader wait until the topic looks different.
    for (const [leader, partitions] of byLeader(metadata)) {
      followers.push(follow(nodes.open(leader), partitions, reading, over.signal));
    }
    await Promise.race([untilChanged(seedNode, metadata, topic, over.signal), ...followers.map(failureOf)]);
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    signal.removeEventListener('abort', end);
    end();
    // A follower may be in the middle of an answer: the next reading must not begin beside it.
    await Promise.allSettled(followers);
  }
}

/** Never resolves: a follower that ended by itself was told to. */
async function failureOf(follower: Promise<void>): Promise<never> {
  await follower;
  return new Promise<never>(() => undefined);
}

async function untilChanged(node: Node, before: ClusterMetadata, topic: string, over: AbortSignal): Promise<void> {
  const isComplete = before.topic?.partitions.every(({ leader }) => leader >= 0) ?? false;
  const shape = shapeOf(before.topic);
  do {
    await sleep(isComplete ? REFRESH_MS : REFRESH_INCOMPLETE_MS, undefined, { signal: over });
  } while (shapeOf((await node.metadata(topic)).topic) === shape);
}

function shapeOf(topic: TopicMetadata | undefined): string {
  const partitions = topic?.partitions.map(({ partition, leader }) => `${partition}@${leader}`) ?? [];
  return [topic?.id, ...partitions.toSorted()].join(' ');
}

/** Reads partitions of one leader until told to end. */
async function follow(node: Node, partitions: number[], reading: TopicReading, over: AbortSignal): Promise<void> {
  const { topic, positions, onProgress, log } = reading;
  let order = partitions;
  while (!over.aborted) {
    await findOffsets(node, partitions, reading);
    order = [...order.slice(1), ...order.slice(0, 1)]; // the first one may fill the whole answer: each is first in turn
    const asked = order.map((partition) => ({ partition, offset: positions.offset(partition) ?? 0n }));
    const fetched = await node.fetch(topic, asked, FETCH_WAIT_MS);
    for (const { partition, errorCode, messages } of fetched) {
      if (over.aborted) return;
      if (errorCode === OFFSET_OUT_OF_RANGE) {
        log.warn(
          { topic, partition, offset: String(positions.offset(partition)) },
          'the event log does not hold the next offset any more',
        );
        positions.restart(partition);
      } else {
        deliverAll(partition, messages, reading, over);
      }
    }
    failOnErrors(fetched.filter(({ errorCode }) => errorCode !== OFFSET_OUT_OF_RANGE));
    onProgress();
  }
}

async function findOffsets(node: Node, partitions: number[], reading: TopicReading): Promise<void> {
  const { topic, positions, onPositions } = reading;
  const unknown = positions.unknownOf(partitions);
  if (unknown.length === 0) return;
  const found = await node.listOffsets(topic, unknown);
  for (const { partition, errorCode, offset } of found) if (errorCode === 0) positions.moveTo(partition, offset);
  onPositions();
  failOnErrors(found);
}

/** A moved leader, a topic that is gone: whatever it is, a look at the topic's new shape is the remedy. */
function failOnErrors(answers: Pick<FetchedPartition, 'errorCode'>[]): void {
  const failed = answers.find(({ errorCode }) => errorCode !== 0);
  if (failed) throw createErrorFromCode(failed.errorCode);
}

function deliverAll(
  partition: number,
  messages: FetchedMessage[],
  { positions, onRecord, log }: TopicReading,
  over: AbortSignal,
): void {
  for (const message of messages) {
    if (over.aborted) return; // by a reader that stops within its own callback
    const offset = BigInt(message.offset);
    if (offset < (positions.offset(partition) ?? 0n)) continue; // a batch is given whole, from its first record on
    positions.moveTo(partition, offset + 1n);
    if (!message.isControlRecord) deliver(toRecord(message), onRecord, log);
  }
}
