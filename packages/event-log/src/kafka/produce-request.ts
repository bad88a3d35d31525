import Encoder from 'kafkajs/src/protocol/encoder.js';
import crc32C from 'kafkajs/src/protocol/recordBatch/crc32C/crc32C.js';
import type { LogRecord } from '../event-log.ts';
import { createWireWriter, varintBytes, type WireWriter } from './wire.ts';

export interface Batch {
  partition: number;
  records: LogRecord[];
}

export interface ProduceOptions {
  /** How many replicas must have the records; -1 for all that are in sync. */
  acks: number;
  timeoutMs: number;
  topic: string;
  batches: Batch[];
  /** The time of all records, in Unix milliseconds. */
  nowMs: number;
}

const NO_TRANSACTION = -1;
const NO_PRODUCER = -1;
const NO_LEADER_EPOCH = 0;
const FORMAT = 2;
const UNCOMPRESSED = 0;

/** Of a batch: offset and length, then what its length counts, then what its checksum covers. */
const COUNTED_FROM = 12;
const CHECKED_FROM = 21;
const CHECKSUM_AT = 17;
const BATCH_HEAD_BYTES = 61;

interface Text {
  text: string;
  bytes: number;
}

interface SizedRecord {
  key: Text;
  value: Text;
  /** Names and values by turns. */
  headers: Text[];
  bytes: number;
}

interface SizedBatch {
  partition: number;
  records: SizedRecord[];
  bytes: number;
}

/**
 * The body of a produce request, as in versions 3 to 7, with one uncompressed batch for each partition. kafkajs writes the same
 * bytes, but makes a buffer of each number and each record on the way, and counts with big integers.
 */
export function encodeProduceRequest({ acks, timeoutMs, topic, batches, nowMs }: ProduceOptions): Encoder {
  const name = measure(topic);
  const sized = batches.map(sizeBatch);
  const bytes = Buffer.allocUnsafe(18 + name.bytes + sized.reduce((sum, batch) => sum + 8 + batch.bytes, 0));
  const writer = createWireWriter(bytes);
  writer.int16(NO_TRANSACTION);
  writer.int16(acks);
  writer.int32(timeoutMs);
  writer.int32(1); // topic
  writer.int16(name.bytes);
  writer.text(topic);
  writer.int32(sized.length);
  for (const batch of sized) {
    writer.int32(batch.partition);
    writer.int32(batch.bytes);
    const begin = writer.position();
    writeBatch(writer, batch, nowMs);
    bytes.writeUInt32BE(crc32C(bytes.subarray(begin + CHECKED_FROM, writer.position())), begin + CHECKSUM_AT);
  }
  return new Encoder(bytes.length).writeBuffer(bytes);
}

function writeBatch(writer: WireWriter, { records, bytes }: SizedBatch, nowMs: number): void {
  writer.int64(0); // the broker sets the offset
  writer.int32(bytes - COUNTED_FROM);
  writer.int32(NO_LEADER_EPOCH);
  writer.int8(FORMAT);
  writer.int32(0); // the checksum follows
  writer.int16(UNCOMPRESSED);
  writer.int32(records.length - 1);
  writer.int64(nowMs); // of the first
  writer.int64(nowMs); // and of the last record
  writer.int64(NO_PRODUCER);
  writer.int16(0);
  writer.int32(0);
  writer.int32(records.length);
  for (const [offset, record] of records.entries()) writeRecord(writer, record, offset);
}

function writeRecord(writer: WireWriter, { key, value, headers, bytes }: SizedRecord, offset: number): void {
  writer.varint(bytes);
  writer.int8(0); // attributes
  writer.varint(0); // milliseconds after the first
  writer.varint(offset);
  writeText(writer, key);
  writeText(writer, value);
  writer.varint(headers.length / 2);
  for (const text of headers) writeText(writer, text);
}

function writeText(writer: WireWriter, { text, bytes }: Text): void {
  writer.varint(bytes);
  writer.text(text);
}

function sizeBatch({ partition, records }: Batch): SizedBatch {
  const sized = records.map(sizeRecord);
  const bytes = sized.reduce((sum, record) => sum + varintBytes(record.bytes) + record.bytes, BATCH_HEAD_BYTES);
  return { partition, records: sized, bytes };
}

function sizeRecord({ key, value, headers = {} }: LogRecord, offset: number): SizedRecord {
  const sized = { key: measure(key), value: measure(value), headers: Object.entries(headers).flat().map(measure) };
  const texts = [sized.key, sized.value, ...sized.headers];
  const head = 2 + varintBytes(offset) + varintBytes(sized.headers.length / 2);
  return { ...sized, bytes: texts.reduce((sum, { bytes }) => sum + varintBytes(bytes) + bytes, head) };
}

function measure(text: string): Text {
  return { text, bytes: Buffer.byteLength(text) };
}
