import { createErrorFromCode } from 'kafkajs/src/protocol/error.js';
import type { FetchedMessage } from 'kafkajs/src/protocol/requests/index.js';
import type { Logger, LogRecord } from '../event-log.ts';
import { createSlowSteps } from '../slow-steps.ts';
import type { Node } from './node.ts';
import { BEGIN, END, type Positions } from './positions.ts';
import { backoffMs, pause } from './timing.ts';

const FETCH_WAIT_MS = 500;
/** A failed partition is skipped for this long while the others are read. */
const REST_MS = 250;
const OFFSET_OUT_OF_RANGE = 1;

export interface FollowerOptions {
  topic: string;
  /** The id of the topic to which the positions refer. */
  topicId: string;
  partitions: number[];
  connect: () => Node;
  positions: Positions;
  onRecord: (record: LogRecord) => void;
  /** Resolves when the reader can accept more. */
  room: () => Promise<void>;
  /** Called when offsets may have become known. */
  onPositions: () => void;
  onFailure: (partition: number, error: unknown) => void;
  onProgress: (partition: number) => void;
  log: Logger;
  random: () => number;
}

export type Follower = ReturnType<typeof createFollower>;

/**
 * Reads partitions from their leader until stopped. Replaces a failed connection, and retries a failed partition after a
 * pause. In both cases, reading resumes from the positions.
 */
export function createFollower(options: FollowerOptions) {
  const { partitions, connect, onFailure, onProgress, random } = options;
  const stopping = new AbortController();
  const { signal } = stopping;
  let node: Node | undefined;
  let failures = 0;

  const run = async () => {
    while (!signal.aborted) {
      node = connect();
      try {
        await follow(node, signal, {
          ...options,
          onProgress(partition) {
            failures = 0;
            onProgress(partition);
          },
        });
      } catch (error) {
        if (signal.aborted) return;
        failures += 1;
        for (const partition of partitions) onFailure(partition, error);
      } finally {
        node.close();
      }
      await pause(backoffMs(failures, random), signal);
    }
  };
  const ended = run();

  return {
    stop(): Promise<void> {
      stopping.abort();
      node?.close();
      return ended;
    },
  };
}

async function follow(node: Node, signal: AbortSignal, options: FollowerOptions): Promise<void> {
  const { topic, topicId, partitions, positions, onFailure, onProgress } = options;
  const resting = new Set<number>();
  let isTopicChecked = false;
  const rest = (partition: number, errorCode: number) => {
    resting.add(partition);
    setTimeout(() => {
      resting.delete(partition);
      isTopicChecked = false;
    }, REST_MS).unref();
    onFailure(partition, createErrorFromCode(errorCode));
  };

  const steps = createSlowSteps(); // a batch may contain many thousands of records
  let order = partitions;
  while (!signal.aborted) {
    // After a failure, the topic may have been recreated under the same name, and the offsets would be meaningless.
    if (!isTopicChecked && (await node.metadata(topic)).topic?.id !== topicId) throw new Error('It is another topic.');
    isTopicChecked = true;
    order = [...order.slice(1), ...order.slice(0, 1)]; // rotated, because the first partition may fill the response
    await findOffsets(
      node,
      order.filter((partition) => !resting.has(partition)),
      options,
      rest,
    );
    const requested = order.flatMap((partition) => {
      const offset = resting.has(partition) ? undefined : positions.offset(partition);
      return offset === undefined ? [] : [{ partition, offset }];
    });
    if (requested.length === 0) {
      await pause(REST_MS, signal);
      continue;
    }
    for (const { partition, errorCode, messages } of await node.fetch(topic, requested, FETCH_WAIT_MS)) {
      if (signal.aborted) return;
      if (errorCode === OFFSET_OUT_OF_RANGE) await findNearest(node, partition, options, rest);
      else if (errorCode !== 0) rest(partition, errorCode);
      else {
        await deliverAll(partition, messages, { ...options, steps }, signal);
        onProgress(partition);
      }
    }
  }
}

type Rest = (partition: number, errorCode: number) => void;

async function findOffsets(node: Node, partitions: number[], options: FollowerOptions, rest: Rest): Promise<void> {
  const { topic, positions, onPositions } = options;
  const unknown = positions.unknownOf(partitions);
  if (unknown.length === 0) return;
  for (const { partition, errorCode, offset } of await node.listOffsets(topic, unknown)) {
    if (errorCode === 0) positions.moveTo(partition, offset);
    else rest(partition, errorCode);
  }
  onPositions();
}

/**
 * The log no longer contains our offset: its oldest records were deleted while we lagged, or its newest were lost with a
 * leader that alone had them. Resumes at the nearest end rather than rereading everything.
 */
async function findNearest(node: Node, partition: number, options: FollowerOptions, rest: Rest): Promise<void> {
  const { topic, positions, log } = options;
  const offset = positions.offset(partition) ?? 0n;
  const found = [];
  for (const at of [BEGIN, END]) found.push(...(await node.listOffsets(topic, [{ partition, at }])));
  const failed = found.find(({ errorCode }) => errorCode !== 0);
  if (failed) return rest(partition, failed.errorCode);
  const [begin = 0n, end = 0n] = found.map((listed) => listed.offset);
  const nearest = offset < begin ? begin : end;
  if (begin <= offset && offset <= end) return rest(partition, OFFSET_OUT_OF_RANGE); // the offset is valid again
  const fields = { topic, partition, offset: String(offset), nearest: String(nearest) };
  log.warn(fields, 'the event log does not hold the next offset; continuing with the nearest one');
  positions.moveTo(partition, nearest);
}

async function deliverAll(
  partition: number,
  messages: FetchedMessage[],
  { positions, onRecord, room, steps }: FollowerOptions & { steps: ReturnType<typeof createSlowSteps> },
  signal: AbortSignal,
): Promise<void> {
  for (const message of messages) {
    await room();
    if (signal.aborted) return;
    const offset = BigInt(message.offset);
    if (offset < (positions.offset(partition) ?? 0n)) continue; // brokers return whole batches, from their first record
    positions.moveTo(partition, offset + 1n);
    if (!message.isControlRecord) await steps.run(() => onRecord(toRecord(message)));
  }
}

/** Converts a null key or value to an empty string. Of a repeated header, keeps the first. */
function toRecord({ key, value, headers = {} }: FetchedMessage): LogRecord {
  return {
    key: key?.toString() ?? '',
    value: value?.toString() ?? '',
    headers: Object.fromEntries(Object.entries(headers).map(([name, content]) => [name, textOf(content)])),
  };
}

function textOf(content: Buffer | Buffer[]): string {
  return (Array.isArray(content) ? content[0] : content)?.toString() ?? '';
}
