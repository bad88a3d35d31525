import { AsyncLocalStorage } from 'node:async_hooks';
import { promisify } from 'node:util';
import { constants, unzip, zstdDecompress } from 'node:zlib';
import kafkajs from 'kafkajs';
import { decompressFrame } from 'lz4-napi';
import { uncompress } from 'snappy';

const { CompressionCodecs, CompressionTypes } = kafkajs;

/** Limits the uncompressed size of the batches in one response. Several times as much as publishers send at once. */
const RESPONSE_MAX_BYTES = 4 * 1024 * 1024;
/** The memory that even the smallest record takes. */
const RECORD_COST_BYTES = 256;
/** 8 MiB, the largest window that compressors use up to level 19. */
const ZSTD_WINDOW_LOG_MAX = 23;

type Decompress = (data: Buffer, maxBytes: number) => Promise<Buffer>;

/**
 * kafkajs reads only gzip, but the topic's or broker's `compression.type` decides how records are compressed. Brokers limit
 * only the compressed size of a batch, which can expand to a gigabyte; these codecs limit the uncompressed size.
 */
export function registerCodecs(): void {
  const zstdOptions = { params: { [constants.ZSTD_d_windowLogMax]: ZSTD_WINDOW_LOG_MAX } };
  register(CompressionTypes.GZIP, (data, maxOutputLength) => promisify(unzip)(data, { maxOutputLength }));
  register(CompressionTypes.Snappy, decompressSnappy);
  register(CompressionTypes.LZ4, decompressLz4);
  register(CompressionTypes.ZSTD, (data, maxOutputLength) =>
    promisify(zstdDecompress)(data, { ...zstdOptions, maxOutputLength }),
  );
}

function register(type: keyof typeof CompressionCodecs, decompress: Decompress): void {
  const compress = () => Promise.reject(new Error('Records are sent as they are; the broker compresses them.'));
  CompressionCodecs[type] = () => ({ compress, decompress: (data: Buffer) => withinResponse(data, decompress) });
}

/** The remaining memory limit of the response that is being decoded. */
const responses = new AsyncLocalStorage<{ leftBytes: number }>();

/**
 * Decodes a fetch response. A batch that cannot be decompressed within the limit is replaced by one control record, so that
 * the reader skips it. A batch that exceeds the limit only together with earlier batches is left for the next fetch.
 */
export async function decodeWithinLimit<Decoded>(
  decode: (payload: Buffer) => Promise<Decoded>,
  payload: Buffer,
): Promise<{ decoded: Decoded; unreadable: number }> {
  let unreadable = 0;
  for (;;) {
    try {
      const decoded = await responses.run({ leftBytes: RESPONSE_MAX_BYTES }, () => decode(payload));
      return { decoded, unreadable };
    } catch (error) {
      if (!(error instanceof UnreadableBatch)) throw error;
      unreadable++;
    }
  }
}

class UnreadableBatch extends Error {}

/** kafkajs stops decoding a partition at an error of this name. */
class RestLater extends Error {
  override readonly name = 'KafkaJSPartialMessageError';
}

async function withinResponse(data: Buffer, decompress: Decompress): Promise<Buffer> {
  const response = responses.getStore() ?? { leftBytes: RESPONSE_MAX_BYTES };
  const records = headOf(data).readUInt32BE(COUNT_AT);
  const maxBytes = response.leftBytes - records * RECORD_COST_BYTES;
  const isFirst = response.leftBytes === RESPONSE_MAX_BYTES;
  try {
    if (maxBytes <= 0) throw new Error('The batch has too many records.');
    const text = await decompress(data, maxBytes);
    response.leftBytes -= text.length + records * RECORD_COST_BYTES;
    return text;
  } catch {
    if (!isFirst) throw new RestLater('The response has too many records.');
    blankBatch(data);
    throw new UnreadableBatch('The batch cannot be decompressed.');
  }
}

/** Offsets in the header of a record batch, which precedes the compressed records in the same buffer. */
const HEAD_BYTES = 61;
const ATTRIBUTES_AT = 21;
const LAST_OFFSET_AT = 23;
const COUNT_AT = 57;
const UNCOMPRESSED_CONTROL_BATCH = 0x20;

const headOf = (data: Buffer) => Buffer.from(data.buffer, data.byteOffset - HEAD_BYTES, HEAD_BYTES);

/** Replaces a batch by a single control record with the batch's last offset. */
function blankBatch(data: Buffer): void {
  const head = headOf(data);
  const lastOffset = varint(head.readUInt32BE(LAST_OFFSET_AT));
  head.writeInt16BE(UNCOMPRESSED_CONTROL_BATCH, ATTRIBUTES_AT);
  head.writeInt32BE(1, COUNT_AT);
  const record = Buffer.from([0, 0, ...lastOffset, 1, 1, 0]); // no key and no value: both have length −1
  Buffer.from([...varint(record.length), ...record]).copy(data);
}

/** Encodes a non-negative number as a zigzag varint. */
function varint(value: number): number[] {
  const bytes: number[] = [];
  let rest = value * 2;
  for (; rest > 0x7f; rest = Math.floor(rest / 0x80)) bytes.push((rest % 0x80) | 0x80);
  return [...bytes, rest];
}

/** The header: "\x82SNAPPY\0", a version and the oldest compatible version. Blocks follow, each preceded by its length. */
const BLOCKS_MAGIC = Buffer.from([0x82, ...Buffer.from('SNAPPY'), 0]);
const BLOCKS_HEADER_BYTES = 16;
const LENGTH_BYTES = 4;

/** Java clients write blocks; librdkafka and others write a single piece. */
async function decompressSnappy(data: Buffer, maxBytes: number): Promise<Buffer> {
  if (!data.subarray(0, BLOCKS_MAGIC.length).equals(BLOCKS_MAGIC)) return uncompressSnappy([data], maxBytes);
  const blocks: Buffer[] = [];
  for (let at = BLOCKS_HEADER_BYTES; at < data.length;) {
    const begin = at + LENGTH_BYTES;
    at = begin + data.readUInt32BE(at);
    blocks.push(data.subarray(begin, at));
  }
  return uncompressSnappy(blocks, maxBytes);
}

async function uncompressSnappy(blocks: Buffer[], maxBytes: number): Promise<Buffer> {
  assertWithin(
    blocks.reduce((sum, block) => sum + snappyLength(block), 0),
    maxBytes,
  );
  const texts = blocks.map((block) => uncompress(block, { asBuffer: true }) as Promise<Buffer>); // due to `asBuffer`
  return Buffer.concat(await Promise.all(texts));
}

/** Reads the uncompressed length at the start of a block. The library would allocate that much. */
function snappyLength(block: Buffer): number {
  let length = 0;
  for (const [index, byte] of block.subarray(0, 5).entries()) {
    length += (byte & 0x7f) * 2 ** (7 * index);
    if (byte < 0x80) break;
  }
  return length;
}

const LZ4 = {
  magic: 0x184d2204,
  hasBlockChecksums: 0x10,
  hasContentSize: 0x08,
  hasContentChecksum: 0x04,
  hasDictId: 0x01,
};
const LZ4_UNCOMPRESSED = 0x8000_0000;

/** The library has no limit, so this computes the maximum uncompressed size from the frame's block headers first. */
async function decompressLz4(data: Buffer, maxBytes: number): Promise<Buffer> {
  const flags = data.readUInt8(4);
  const maxBlockBytes = 2 ** (8 + 2 * ((data.readUInt8(5) >> 4) & 7));
  const checksumBytes = flags & LZ4.hasBlockChecksums ? 4 : 0;
  let at = 7 + (flags & LZ4.hasContentSize ? 8 : 0) + (flags & LZ4.hasDictId ? 4 : 0);
  let totalMaxBytes = 0;
  for (let size = data.readUInt32LE(at); size !== 0; size = data.readUInt32LE(at)) {
    totalMaxBytes += size >= LZ4_UNCOMPRESSED ? size - LZ4_UNCOMPRESSED : Math.min(maxBlockBytes, size * 255);
    at += 4 + (size % LZ4_UNCOMPRESSED) + checksumBytes;
  }
  const end = at + 4 + (flags & LZ4.hasContentChecksum ? 4 : 0);
  if (data.readUInt32LE(0) !== LZ4.magic || end !== data.length) throw new Error('It is not one lz4 frame.');
  assertWithin(totalMaxBytes, maxBytes);
  return decompressFrame(data);
}

function assertWithin(bytes: number, maxBytes: number): void {
  if (bytes > maxBytes) throw new Error('The batch is too large.');
}
