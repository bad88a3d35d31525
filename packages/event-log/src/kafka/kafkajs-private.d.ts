/* eslint-disable import-x/no-default-export -- these are CommonJS modules, whose exports arrive as the default */
// Internals of kafkajs 2.2.4 that have no public types. The version is pinned because of them.

declare module 'kafkajs/src/network/requestQueue/index.js' {
  export default class RequestQueue {
    readonly pending: unknown[];
    scheduleCheckPendingRequests(): void;
  }
}

declare module 'kafkajs/src/network/socketFactory.js' {
  import type { ISocketFactory } from 'kafkajs';
  export default function createSocketFactory(): ISocketFactory;
}

declare module 'kafkajs/src/network/connectionPool.js' {
  import type { ConnectionOptions } from 'node:tls';
  import type { ISocketFactory, Logger, SASLOptions } from 'kafkajs';

  export interface WireRequest {
    apiKey: number;
    apiVersion: number;
    apiName: string;
    encode(): Promise<{ buffer: Buffer; size(): number }>;
  }

  export interface WireResponse<Decoded> {
    decode(payload: Buffer): Promise<Decoded & { clientSideThrottleTime?: number }>;
    /** The library's own implementations throw on any error in the response; here the callers check. */
    parse(decoded: Decoded): Promise<Decoded>;
  }

  export interface Exchange<Decoded> {
    request: WireRequest;
    response: WireResponse<Decoded>;
    requestTimeout?: number;
    logResponseError?: boolean;
  }

  export default class ConnectionPool {
    constructor(options: {
      host: string;
      port: number;
      logger: Logger;
      socketFactory: ISocketFactory;
      clientId: string;
      requestTimeout: number;
      connectionTimeout: number;
      ssl?: ConnectionOptions;
      sasl?: SASLOptions;
    });
    send<Decoded>(exchange: Exchange<Decoded>): Promise<Decoded>;
  }
}

declare module 'kafkajs/src/broker/index.js' {
  import type { Logger } from 'kafkajs';
  import type ConnectionPool from 'kafkajs/src/network/connectionPool.js';
  import type { Exchange } from 'kafkajs/src/network/connectionPool.js';
  import type { RequestDefinition } from 'kafkajs/src/protocol/requests/index.js';

  export default class Broker {
    constructor(options: { connectionPool: ConnectionPool; logger: Logger; authenticationTimeout: number });
    /** The API versions that the broker supports, by API key; null before `connect`. */
    readonly versions: Record<number, { minVersion: number; maxVersion: number } | undefined> | null;
    connect(): Promise<void>;
    /** The newest version of a request that both sides support. */
    lookupRequest<Arguments, Decoded>(
      apiKey: number,
      definition: RequestDefinition<Arguments, Decoded>,
    ): (args: Arguments) => Exchange<Decoded>;
  }
}

declare module 'kafkajs/src/protocol/requests/index.js' {
  export interface RequestDefinition<_Arguments, _Decoded> {
    versions: string[];
  }

  export interface FetchArguments {
    isolationLevel: number;
    maxWaitTime: number;
    minBytes: number;
    maxBytes: number;
    rackId: string;
    topics: { topic: string; partitions: { partition: number; fetchOffset: string; maxBytes: number }[] }[];
  }
  export interface FetchResponse {
    errorCode?: number;
    responses: { topicName: string; partitions: FetchedPartition[] }[];
  }
  export interface FetchedPartition {
    partition: number;
    errorCode: number;
    messages: FetchedMessage[];
  }
  export interface FetchedMessage {
    offset: string;
    key: Buffer | null;
    value: Buffer | null;
    headers?: Record<string, Buffer | Buffer[]>;
    isControlRecord?: boolean;
  }

  export interface ListOffsetsArguments {
    isolationLevel: number;
    topics: { topic: string; partitions: { partition: number; timestamp: number }[] }[];
  }
  export interface ListOffsetsResponse {
    responses: { topic: string; partitions: { partition: number; errorCode: number; offset: string }[] }[];
  }

  export interface ProduceArguments {
    acks: number;
    timeout: number;
    topicData: {
      topic: string;
      partitions: { partition: number; messages: { key: string; value: string; headers?: Record<string, string> }[] }[];
    }[];
  }
  export interface ProduceResponse {
    topics: { topicName: string; partitions: { partition: number; errorCode: number }[] }[];
  }

  export const requests: {
    Produce: RequestDefinition<ProduceArguments, ProduceResponse>;
    Fetch: RequestDefinition<FetchArguments, FetchResponse>;
    ListOffsets: RequestDefinition<ListOffsetsArguments, ListOffsetsResponse>;
  };
}

declare module 'kafkajs/src/protocol/requests/apiKeys.js' {
  const apiKeys: { Produce: number; Fetch: number; ListOffsets: number; Metadata: number };
  export default apiKeys;
}

declare module 'kafkajs/src/producer/partitioners/default/murmur2.js' {
  export default function murmur2(key: string): number;
}

declare module 'kafkajs/src/protocol/error.js' {
  export function createErrorFromCode(code: number): Error & { type: string; code: number; retriable: boolean };
}

declare module 'kafkajs/src/protocol/encoder.js' {
  export default class Encoder {
    constructor(initialSize?: number);
    readonly buffer: Buffer;
    size(): number;
    writeBuffer(value: Buffer): this;
  }
}

declare module 'kafkajs/src/loggers/index.js' {
  import type { Logger, logCreator, logLevel } from 'kafkajs';
  export function createLogger(options: { level: logLevel; logCreator: logCreator }): Logger;
}
