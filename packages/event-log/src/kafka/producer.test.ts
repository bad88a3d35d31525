import { setImmediate as turn } from 'node:timers/promises';
import { eventually } from '@taskmesh/testing';
import kafkajs from 'kafkajs';
import murmur2 from 'kafkajs/src/producer/partitioners/default/murmur2.js';
import { createErrorFromCode } from 'kafkajs/src/protocol/error.js';
import type { LogRecord } from '../event-log.ts';
import type { Address } from './config.ts';
import type { ProducingNode } from './node.ts';
import type { Batch } from './node.ts';
import { createProducer } from './producer.ts';

const { Partitioners } = kafkajs;
const NOT_ENOUGH_REPLICAS = 19;
const INVALID_TOPIC = 17;

function createCluster({ msPerLook = 0 } = {}) {
  const brokers = [1, 2].map((nodeId) => ({ nodeId, host: `b${nodeId}`, port: 9092 }));
  const leaders = [1, 2, 1, 2];
  const taken: string[] = [];
  const requests: string[] = [];
  const opened: string[] = [];
  const silent = new Set<string>();
  const refusals = new Map<number, (batch: Batch) => number>();
  let nowMs = 1_000_000;

  const connect = ({ host }: Address): ProducingNode => {
    opened.push(host);
    const answer = async () => {
      await turn();
      if (silent.has(host)) throw Object.assign(new Error(`${host} is silent`), { code: 'ECONNRESET' });
    };
    return {
      async metadata(topic) {
        await answer();
        requests.push(`${host} metadata`);
        if (topic === '') throw createErrorFromCode(INVALID_TOPIC);
        return { brokers, topic: { id: 'i', partitions: leaders.map((leader, partition) => ({ partition, leader })) } };
      },
      async produce(_topic, batches) {
        requests.push(`${host} ${batches.map(({ partition, records }) => `${partition}:${records.length}`).join(' ')}`);
        await answer();
        return batches.map((batch) => {
          const errorCode = refusals.get(batch.partition)?.(batch) ?? 0;
          if (errorCode === 0) taken.push(...batch.records.map(({ value }) => value));
          return { partition: batch.partition, errorCode };
        });
      },
      close: () => undefined,
    };
  };
  const producer = createProducer({
    seeds: brokers,
    connect,
    random: () => 0,
    monotonicMs: () => (nowMs += msPerLook),
  });
  return { producer, leaders, taken, requests, opened, silent, refusals, advance: (ms: number) => (nowMs += ms) };
}

/** A record for one of the four partitions, with a key derived from `key`. */
function at(partition: number, value: string, key = value): LogRecord {
  for (let tries = 0; ; tries++) {
    const tried = `${key} ${tries}`;
    if ((murmur2(tried) & 0x7fffffff) % 4 === partition) return { key: tried, value };
  }
}
const named = (reasons: Map<LogRecord, unknown>) =>
  Object.fromEntries(
    [...reasons].map(([{ value }, reason]) => [value, (reason as { type?: string }).type ?? String(reason)]),
  );

describe('a producer', () => {
  it('sends one request to each leader, and partitions keys like other Kafka clients', async () => {
    const { producer, taken, requests } = createCluster();
    expect(named(await producer.send('t', [at(0, 'a'), at(1, 'b'), at(2, 'c'), at(0, 'd')]))).toEqual({});
    expect(taken.toSorted()).toEqual(['a', 'b', 'c', 'd']);
    expect(requests.slice(1).toSorted()).toEqual(['b1 0:2 2:1', 'b2 1:1']);
    const byLibrary = Partitioners.DefaultPartitioner();
    const partitionMetadata = [0, 1, 2, 3].map((partitionId) => ({
      ...{ partitionId, partitionErrorCode: 0, leader: 1, replicas: [], isr: [] },
    }));
    for (let n = 0; n < 50; n++) {
      const message = { key: `01890000-0000-7000-8000-0000000000${n + 10}`, value: 'v' };
      await producer.send('t', [message]);
      const partition = byLibrary({ topic: 't', partitionMetadata, message });
      expect(requests.at(-1)).toBe(`b${(partition % 2) + 1} ${partition}:1`);
    }
  });

  it('reports records of a partition without a leader until it has one, and sends the others', async () => {
    const { producer, leaders, taken, advance } = createCluster();
    leaders[2] = -1;
    const records = [at(0, 'a'), at(2, 'held'), at(1, 'b')];
    expect(named(await producer.send('t', records))).toEqual({ held: 'LEADER_NOT_AVAILABLE' });
    expect(taken.toSorted()).toEqual(['a', 'b']);
    leaders[2] = 2;
    advance(200);
    expect(named(await producer.send('t', [at(2, 'held')]))).toEqual({});
  });

  it('reports records whose leader does not respond, and avoids that leader until it responds again', async () => {
    const { producer, silent, taken, requests, opened } = createCluster();
    await producer.send('t', [at(1, 'known')]);
    silent.add('b2');
    const begun = performance.now();
    expect(named(await producer.send('t', [at(0, 'a'), at(1, 'b')]))).toEqual({ b: 'Error: b2 is silent' });
    requests.length = 0;
    expect(named(await producer.send('t', [at(0, 'c'), at(1, 'b')]))).toEqual({ b: 'Error: b2 is silent' });
    expect(requests).toEqual(['b1 0:1']);
    await eventually(() => expect(opened.length).toBeGreaterThan(4));
    expect(performance.now() - begun).toBeGreaterThan(150); // its pauses grow
    silent.clear();
    await eventually(async () => expect(named(await producer.send('t', [at(1, 'b')]))).toEqual({}));
    expect(taken).toEqual(['known', 'a', 'c', 'b']);
    producer.close();
  });

  it('rarely retries a partition that failed slowly, until it has another leader', async () => {
    const { producer, leaders, refusals, requests, advance } = createCluster();
    refusals.set(0, () => {
      advance(1_000);
      return NOT_ENOUGH_REPLICAS;
    });
    const tried = () => requests.filter((request) => request.includes('0:1')).length;
    for (let times = 0; times < 3; times++) {
      expect(named(await producer.send('t', [at(0, 'a')]))).toEqual({ a: 'NOT_ENOUGH_REPLICAS' });
      expect(named(await producer.send('t', [at(2, 'other')]))).toEqual({});
    }
    expect(tried()).toBe(1);
    advance(4_001);
    await producer.send('t', [at(0, 'a')]);
    expect(tried()).toBe(2);
    leaders[0] = 2;
    refusals.clear();
    advance(200);
    expect(named(await producer.send('t', [at(0, 'a')]))).toEqual({});
  });

  it('sends either all records of a partition or none when its rest is about to end', async () => {
    const { producer, refusals, taken, advance } = createCluster({ msPerLook: 1 });
    refusals.set(0, () => {
      advance(1_000);
      return NOT_ENOUGH_REPLICAS;
    });
    await producer.send('t', [at(0, 'a')]);
    refusals.clear();
    const records = Array.from({ length: 9_000 }, (_, n) => at(0, String(n), 'k'));
    const refused = await producer.send('t', records);
    expect([refused.size, taken.length]).toEqual([9_000, 0]);
  });
});
