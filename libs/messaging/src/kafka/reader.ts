import { setTimeout as sleep } from 'node:timers/promises';
import type { Log } from '@taskmesh/service';
import type { Logger } from 'kafkajs';
import type { LogReader, LogRecord } from '../event-log.ts';
import { backoffMs } from './backoff.ts';
import { parseAddress, type Address, type ClientSettings } from './config.ts';
import { createNode } from './node.ts';
import { createOutage } from './outage.ts';
import { createPositions } from './positions.ts';
import { readTopic } from './read-topic.ts';

export interface ReaderOptions {
  topic: string;
  onRecord: (record: LogRecord) => void;
  brokers: string[];
  settings: ClientSettings;
  log: Log;
  logger: Logger;
  random: () => number;
}

/**
 * Reads all partitions of a topic without a consumer group, from the end on, for ever: connections come and go, the
 * positions stay in memory. A group would lose what is published between its members' death and their return.
 */
export function createReader(options: ReaderOptions): LogReader {
  const { topic, onRecord, brokers, settings, log, logger, random } = options;
  const stopping = new AbortController();
  const { promise: settled, resolve: settle } = Promise.withResolvers<void>();
  const positions = createPositions();
  const outage = createOutage(log, topic);
  const seeds = brokers.map(parseAddress);
  let known: Address[] = [];
  let tries = 0;

  /** Another broker at each try: first the given ones, then those that the cluster told of. */
  const nextAddress = (): Address => {
    const addresses = [...seeds, ...known];
    const address = addresses[tries++ % addresses.length];
    if (!address) throw new Error('There is no broker to connect to.');
    return address;
  };

  const readOnce = () =>
    readTopic({
      topic,
      positions,
      seed: nextAddress(),
      connect: (address) => createNode({ address, settings, logger }),
      signal: stopping.signal,
      onRecord,
      onBrokers: (addresses) => (known = addresses),
      onPositions() {
        if (positions.areSettled()) settle();
      },
      onProgress: outage.ended,
      log,
    });

  const run = async () => {
    while (!stopping.signal.aborted) {
      try {
        await readOnce();
      } catch (error) {
        outage.failed(error);
      }
      await sleep(backoffMs(outage.failures(), random), undefined, { signal: stopping.signal }).catch(() => undefined);
    }
  };
  const ended = run();

  return {
    ready: () => settled,
    async stop() {
      stopping.abort();
      settle(); // nobody waits for a reader that is gone
      await ended;
    },
  };
}
