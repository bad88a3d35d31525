import { createErrorFromCode } from 'kafkajs/src/protocol/error.js';
import { isRefusedForGood, type LogRecord } from '../event-log.ts';
import { createLeaders, type LeadersOptions } from './leaders.ts';
import type { Batch } from './node.ts';

const NETWORK_EXCEPTION = 13;
/** A failed partition is skipped for this many times as long as the failure took, so that slow failures delay others little. */
const PAUSE_FACTOR = 4;
const MAX_PAUSE_MS = 10_000;

/** The reason for each record that was not appended, or may not have been. */
export type Reasons = Map<LogRecord, unknown>;

export type Producer = ReturnType<typeof createProducer>;

interface LeaderPause {
  leader: string;
  untilMs: number;
  reason: unknown;
}

/**
 * Sends each leader its records and reports the outcome by partition. kafkajs's own producer fails as a whole if one
 * partition has no leader or rejects its records, so its caller repeats records that other partitions have accepted. Not
 * idempotent: that covers only retries of the same producer, but the caller may retry from another process. Never retries
 * by itself, so that the caller sees every outcome.
 */
export function createProducer(options: LeadersOptions) {
  const { monotonicMs } = options;
  const leaders = createLeaders(options);
  const pauses = new Map<string, LeaderPause>();

  /** Returns why a partition is skipped: it has just failed, and its leader has not changed since. */
  const pauseOf = (topic: string, partition: number, leader: string, nowMs: number): LeaderPause | undefined => {
    const rest = pauses.get(`${topic} ${partition}`);
    return rest?.leader === leader && rest.untilMs > nowMs ? rest : undefined;
  };

  const fail = (topic: string, leader: string, { partition, records }: Batch, reason: unknown, tookMs: number) => {
    const untilMs = monotonicMs() + Math.min(tookMs * PAUSE_FACTOR, MAX_PAUSE_MS);
    pauses.set(`${topic} ${partition}`, { leader, untilMs, reason });
    leaders.markStale(topic);
    return new Map(records.map((record) => [record, reason]));
  };

  const produce = async (topic: string, leader: string, batches: Batch[]): Promise<Reasons> => {
    const begunMs = monotonicMs();
    let outcomes: { partition: number; errorCode: number }[];
    try {
      outcomes = await leaders.request(leader, (node) => node.produce(topic, batches));
    } catch (reason) {
      leaders.markStale(topic);
      return new Map(batches.flatMap(({ records }) => records.map((record) => [record, reason] as const)));
    }
    const tookMs = monotonicMs() - begunMs;
    const reasons: Reasons = new Map();
    for (const batch of batches) {
      const outcome = outcomes.find(({ partition }) => partition === batch.partition);
      const error = errorOf(outcome?.errorCode ?? NETWORK_EXCEPTION);
      if (error === undefined) continue;
      const failed = isRefusedForGood(error)
        ? await bisect(topic, leader, batch, error)
        : fail(topic, leader, batch, error, tookMs);
      for (const [record, reason] of failed) reasons.set(record, reason);
    }
    return reasons;
  };

  /** Brokers reject a batch as a whole. Bisects it to find the record at fault and to send the others. */
  const bisect = async (topic: string, leader: string, { partition, records }: Batch, reason: Error) => {
    if (records.length === 1) return new Map(records.map((record) => [record, reason]));
    const reasons: Reasons = new Map();
    const middle = Math.ceil(records.length / 2);
    for (const half of [records.slice(0, middle), records.slice(middle)]) {
      const free = withoutBlocked(half, reasons, reasons);
      if (free.length === 0) continue;
      const failed = await produce(topic, leader, [{ partition, records: free }]);
      for (const [record, why] of failed) reasons.set(record, why);
    }
    return reasons;
  };

  return {
    /** Resolves when each record is on all in-sync replicas, rejected, or of unknown outcome. Never rejects. */
    async send(topic: string, records: LogRecord[]) {
      const reasons: Reasons = new Map();
      const batches = new Map<string, Map<number, LogRecord[]>>();
      try {
        const placeOf = await leaders.of(topic);
        const nowMs = monotonicMs(); // the same for all: a rest that ended halfway would let records overtake others
        for (const record of records) {
          const place = placeOf(record);
          const { partition, leader } = place;
          const rest = leader === undefined ? place : pauseOf(topic, partition, leader, nowMs);
          if (leader === undefined || rest) reasons.set(record, rest?.reason);
          else put(batches, leader, partition, record);
        }
      } catch (error) {
        return new Map(records.map((record) => [record, error]));
      }
      if (reasons.size > 0) leaders.markStale(topic);
      const failures = await Promise.all(
        [...batches].map(([leader, led]) =>
          produce(
            topic,
            leader,
            [...led].map(([partition, ofIt]) => ({ partition, records: ofIt })),
          ),
        ),
      );
      return new Map([...reasons, ...failures.flatMap((failed) => [...failed])]);
    },
    close: leaders.close,
  };
}

/** Filters out records whose key has an earlier record that was not appended, and adds them to `reasons`. */
export function withoutBlocked(records: LogRecord[], before: Reasons, reasons: Reasons): LogRecord[] {
  if (before.size === 0) return records;
  const keys = new Set([...before.keys()].map(({ key }) => key));
  return records.filter((record) => {
    const isFree = !keys.has(record.key);
    if (!isFree) reasons.set(record, new Error('A record of the same key before it was not taken.'));
    return isFree;
  });
}

function errorOf(code: number): Error | undefined {
  return code === 0 ? undefined : createErrorFromCode(code);
}

function put(batches: Map<string, Map<number, LogRecord[]>>, leader: string, partition: number, record: LogRecord) {
  const led = batches.get(leader) ?? new Map<number, LogRecord[]>();
  const records = led.get(partition) ?? [];
  records.push(record);
  batches.set(leader, led.set(partition, records));
}
