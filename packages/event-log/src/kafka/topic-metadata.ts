import apiKeys from 'kafkajs/src/protocol/requests/apiKeys.js';
import Encoder from 'kafkajs/src/protocol/encoder.js';
import type { Exchange } from 'kafkajs/src/network/connectionPool.js';
import type { Address } from './config.ts';

/** kafkajs's own metadata request has no topic ids. Without them, a recreated topic looks like the old one. */
const VERSION = 12;
const UNKNOWN_TOPIC_OR_PARTITION = 3;

export interface ClusterMetadata {
  brokers: (Address & { nodeId: number })[];
  topic: TopicMetadata | undefined;
}

export interface TopicMetadata {
  /** Changes when the topic is deleted and created again. */
  id: string;
  partitions: PartitionMetadata[];
}

export interface PartitionMetadata {
  partition: number;
  /** The node id; -1 while there is no leader. */
  leader: number;
}

/** The partitions that each broker leads. Partitions without a leader are omitted. */
export function byLeader({ brokers, topic }: ClusterMetadata): [Address, number[]][] {
  return brokers.flatMap(({ nodeId, host, port }): [Address, number[]][] => {
    const led = topic?.partitions.filter(({ leader }) => leader === nodeId).map(({ partition }) => partition) ?? [];
    return led.length > 0 ? [[{ host, port }, led]] : [];
  });
}

interface MetadataResponse extends ClusterMetadata {
  /** 0 even if the topic does not exist. */
  errorCode: number;
}

export function metadataExchange(topic: string): Exchange<MetadataResponse> {
  return {
    request: { apiKey: apiKeys.Metadata, apiVersion: VERSION, apiName: 'Metadata', encode: async () => encode(topic) },
    response: { decode: async (payload) => decode(payload), parse: async (decoded) => decoded },
    logResponseError: false,
  };
}

/** kafkajs writes the old request header. The new header ends with "no tagged fields", so that is prepended to the body. */
function encode(topic: string): Encoder {
  const name = Buffer.from(topic);
  const noTags = Buffer.from([0]);
  return new Encoder().writeBuffer(
    Buffer.concat([
      noTags,
      Buffer.from([2]), // one topic: lengths are encoded plus one
      Buffer.alloc(16), // no id: the topic is requested by name
      unsignedVarint(name.length + 1),
      name,
      noTags,
      Buffer.from([0, 0]), // neither create the topic nor list the authorized operations
      noTags,
    ]),
  );
}

function unsignedVarint(value: number): Buffer {
  const bytes: number[] = [];
  for (let rest = value; ; rest >>>= 7) {
    if (rest < 0x80) return Buffer.from([...bytes, rest]);
    bytes.push((rest & 0x7f) | 0x80);
  }
}

function decode(payload: Buffer): MetadataResponse & { clientSideThrottleTime: number } {
  const reader = createWireReader(payload);
  reader.skipTags(); // of the header
  const clientSideThrottleTime = reader.int32();
  const brokers = reader.array(() => {
    const [nodeId, host, port] = [reader.int32(), reader.string(), reader.int32()];
    reader.string(); // rack
    reader.skipTags();
    return { nodeId, host, port };
  });
  reader.string(); // cluster id
  reader.int32(); // controller
  const [topic] = reader.array(() => {
    const errorCode = reader.int16();
    reader.string(); // name
    const id = reader.uuid();
    reader.int8(); // internal
    const partitions = reader.array(() => {
      reader.int16(); // error code: adds nothing to the missing leader
      const [partition, leader] = [reader.int32(), reader.int32()];
      reader.int32(); // the leader's epoch
      for (const _ of ['replicas', 'in sync', 'offline']) reader.array(() => reader.int32());
      reader.skipTags();
      return { partition, leader };
    });
    reader.int32(); // authorized operations
    reader.skipTags();
    return { errorCode, id, partitions };
  });
  const isAbsent = topic?.errorCode === UNKNOWN_TOPIC_OR_PARTITION;
  const errorCode = isAbsent ? 0 : (topic?.errorCode ?? 0);
  return {
    clientSideThrottleTime,
    brokers,
    errorCode,
    topic: topic && !isAbsent ? { id: topic.id, partitions: topic.partitions } : undefined,
  };
}

/** Reads the "flexible" encoding of Kafka's protocol sequentially. @throws RangeError when the input ends too early */
function createWireReader(bytes: Buffer) {
  let position = 0;
  const advance = (length: number) => (position += length) - length;

  const unsignedVarint = () => {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = bytes.readUInt8(advance(1));
      value += (byte & 0x7f) * 2 ** shift;
      if (byte < 0x80) return value;
    }
  };
  /** The length of a string or array is encoded plus one; 0 is null. */
  const length = () => Math.max(unsignedVarint() - 1, 0);
  const text = (encoding: 'utf8' | 'hex', size: number) => {
    const begin = advance(size);
    if (position > bytes.length) throw new RangeError('The response of the broker ends too early.');
    return bytes.toString(encoding, begin, position);
  };

  return {
    int8: () => bytes.readInt8(advance(1)),
    int16: () => bytes.readInt16BE(advance(2)),
    int32: () => bytes.readInt32BE(advance(4)),
    uuid: () => text('hex', 16),
    /** Returns an empty string for null. */
    string: () => text('utf8', length()),
    array: <Item>(readItem: () => Item): Item[] => Array.from({ length: length() }, readItem),
    skipTags() {
      for (let tags = unsignedVarint(); tags > 0; tags -= 1) {
        unsignedVarint();
        advance(unsignedVarint());
      }
    },
  };
}
