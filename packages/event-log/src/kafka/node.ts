import type { Logger } from 'kafkajs';
import Broker from 'kafkajs/src/broker/index.js';
import ConnectionPool, { type Exchange } from 'kafkajs/src/network/connectionPool.js';
import apiKeys from 'kafkajs/src/protocol/requests/apiKeys.js';
import { requests, type FetchedPartition } from 'kafkajs/src/protocol/requests/index.js';
import { createErrorFromCode } from 'kafkajs/src/protocol/error.js';
import type { LogRecord } from '../event-log.ts';
import { decodeWithinLimit } from './compression.ts';
import type { Address, ClientSettings } from './config.ts';
import { createSockets } from './library.ts';
import { withDeadline } from './timing.ts';
import { metadataExchange, type ClusterMetadata } from './topic-metadata.ts';

const REQUEST_TIMEOUT_MS = 2_000;
/** A new connection also requests the API versions first. */
const CONNECTING_REQUESTS = 2;
const ACKS_FROM_ALL = -1;
/** The broker times out before we do, so that we receive its reason. */
const ACK_TIMEOUT_MS = 4_000;
/** No transactions are used, so there is no uncommitted data to hide. */
const READ_UNCOMMITTED = 0;
/** Small enough that a reader with a large lag leaves time for other work between two responses. */
const FETCH_MAX_BYTES = 256 * 1024;

/**
 * A connection to one broker. Errors of single partitions are part of the result (kafkajs's own client fails the whole
 * request); everything else rejects. After a rejection, the state of the connection is unknown: close the node.
 */
export interface Node {
  metadata(topic: string): Promise<ClusterMetadata>;
  /** `at` is -1 for the end, -2 for the oldest available record. */
  listOffsets(topic: string, partitions: { partition: number; at: bigint }[]): Promise<ListedOffset[]>;
  /** Resolves at once if there are records at the offsets, otherwise after `maxWaitMs`. */
  fetch(
    topic: string,
    partitions: { partition: number; offset: bigint }[],
    maxWaitMs: number,
  ): Promise<FetchedPartition[]>;
  /** Rejects pending requests. */
  close(): void;
}

/** Records for one partition. */
export interface Batch {
  partition: number;
  records: LogRecord[];
}

export interface ProducingNode extends Pick<Node, 'metadata' | 'close'> {
  /** Resolves when each partition's batch has been rejected or has reached all in-sync replicas. */
  produce(topic: string, batches: Batch[]): Promise<{ partition: number; errorCode: number }[]>;
}

export interface ListedOffset {
  partition: number;
  errorCode: number;
  offset: bigint;
}

export interface NodeOptions {
  address: Address;
  settings: ClientSettings;
  logger: Logger;
  /** Called when batches of records had to be skipped. */
  onUnreadable?: (topic: string, batches: number) => void;
}

/** Connects on the first request. */
export function createNode({ address, settings, logger, onUnreadable = () => {} }: NodeOptions): Node & ProducingNode {
  const { authenticationTimeout, ...connection } = settings;
  /** kafkajs measures time by the wall clock. If that is set back, a request to a silent or throttling broker waits that much longer. */
  const maxWaitMs = connection.connectionTimeout + authenticationTimeout + CONNECTING_REQUESTS * REQUEST_TIMEOUT_MS;
  const sockets = createSockets();
  const pool = new ConnectionPool({
    ...address,
    ...connection,
    logger,
    socketFactory: sockets.factory,
    requestTimeout: REQUEST_TIMEOUT_MS,
  });
  const broker = new Broker({ connectionPool: pool, logger, authenticationTimeout });

  const sendOnce = async <Decoded>(exchange: () => Exchange<Decoded>, waitMs: number) => {
    await broker.connect();
    const { request, response } = exchange();
    return pool.send({
      request,
      response: { decode: response.decode, parse: async (decoded: Decoded) => decoded },
      requestTimeout: REQUEST_TIMEOUT_MS + waitMs,
      logResponseError: false,
    });
  };

  const send = <Decoded>(exchange: () => Exchange<Decoded>, waitMs = 0) => {
    const tooLateMs = maxWaitMs + waitMs;
    return withDeadline(sendOnce(exchange, waitMs), tooLateMs, `No response within ${tooLateMs} ms.`);
  };

  return {
    async metadata(topic) {
      const { errorCode, ...metadata } = await send(() => metadataExchange(topic));
      if (errorCode !== 0) throw createErrorFromCode(errorCode);
      if (metadata.brokers.length === 0) throw new Error('The broker does not know its cluster yet.');
      return metadata;
    },

    async listOffsets(topic, partitions) {
      const requested = partitions.map(({ partition, at }) => ({ partition, timestamp: Number(at) }));
      const { responses } = await send(() =>
        broker.lookupRequest(
          apiKeys.ListOffsets,
          requests.ListOffsets,
        )({
          isolationLevel: READ_UNCOMMITTED,
          topics: [{ topic, partitions: requested }],
        }),
      );
      return responses.flatMap((each) =>
        each.partitions.map(({ partition, errorCode, offset }) => ({ partition, errorCode, offset: BigInt(offset) })),
      );
    },

    async fetch(topic, partitions, maxWaitMs) {
      const requested = partitions.map(({ partition, offset }) => ({
        partition,
        fetchOffset: String(offset),
        maxBytes: FETCH_MAX_BYTES,
      }));
      const { errorCode = 0, responses } = await send(() => {
        const { request, response } = broker.lookupRequest(
          apiKeys.Fetch,
          requests.Fetch,
        )({
          isolationLevel: READ_UNCOMMITTED,
          maxWaitTime: maxWaitMs,
          minBytes: 1,
          maxBytes: FETCH_MAX_BYTES,
          rackId: '',
          topics: [{ topic, partitions: requested }],
        });
        const decode = async (payload: Buffer) => {
          const { decoded, unreadable } = await decodeWithinLimit(response.decode, payload);
          if (unreadable > 0) onUnreadable(topic, unreadable);
          return decoded;
        };
        return { request, response: { ...response, decode } };
      }, maxWaitMs);
      if (errorCode !== 0) throw createErrorFromCode(errorCode);
      return responses.flatMap((each) => each.partitions);
    },

    async produce(topic, batches) {
      const partitions = batches.map(({ partition, records }) => ({ partition, messages: records }));
      const { topics } = await send(
        () =>
          broker.lookupRequest(
            apiKeys.Produce,
            requests.Produce,
          )({ acks: ACKS_FROM_ALL, timeout: ACK_TIMEOUT_MS, topicData: [{ topic, partitions }] }),
        ACK_TIMEOUT_MS,
      );
      return topics.flatMap((each) => each.partitions);
    },

    close: () => sockets.cut('The reader closed the connection.'),
  };
}
