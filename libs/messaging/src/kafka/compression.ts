import { promisify } from 'node:util';
import { zstdDecompress } from 'node:zlib';
import kafkajs from 'kafkajs';
import { decompressFrame } from 'lz4-napi';
import { uncompress } from 'snappy';

const { CompressionCodecs, CompressionTypes } = kafkajs;

/**
 * kafkajs can only read gzip, but the topic's or the broker's `compression.type` decides how records are compressed.
 */
export function registerCodecs(): void {
  register(CompressionTypes.Snappy, decompressSnappy);
  register(CompressionTypes.LZ4, decompressFrame);
  register(CompressionTypes.ZSTD, promisify(zstdDecompress));
}

function register(type: keyof typeof CompressionCodecs, decompress: (data: Buffer) => Promise<Buffer>): void {
  const compress = () => Promise.reject(new Error('Records are sent as they are; the broker compresses them.'));
  CompressionCodecs[type] = () => ({ compress, decompress });
}

/** "\x82SNAPPY\0", a version and the oldest compatible version; blocks follow, each preceded by its length. */
const BLOCKS_MAGIC = Buffer.from([0x82, ...Buffer.from('SNAPPY'), 0]);
const BLOCKS_HEADER_BYTES = 16;
const LENGTH_BYTES = 4;

/** Java clients write blocks; librdkafka and others write one piece. */
async function decompressSnappy(data: Buffer): Promise<Buffer> {
  if (!data.subarray(0, BLOCKS_MAGIC.length).equals(BLOCKS_MAGIC)) return uncompressSnappy(data);
  const blocks: Promise<Buffer>[] = [];
  for (let at = BLOCKS_HEADER_BYTES; at < data.length;) {
    const begin = at + LENGTH_BYTES;
    at = begin + data.readUInt32BE(at);
    blocks.push(uncompressSnappy(data.subarray(begin, at)));
  }
  return Buffer.concat(await Promise.all(blocks));
}

const uncompressSnappy = (data: Buffer) => uncompress(data, { asBuffer: true }) as Promise<Buffer>; // as asked for
