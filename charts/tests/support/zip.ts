import { inflateRawSync } from 'node:zlib';

const ENTRY = 0x02014b50;
const END = 0x06054b50;
const END_BYTES = 22;

/** One file of a ZIP archive, found by its central directory. @throws Error when it has none of that name */
export function readEntry(zip: Buffer, wanted: string): Buffer {
  let end = zip.length - END_BYTES;
  while (end >= 0 && zip.readUInt32LE(end) !== END) end--;
  if (end < 0) throw new Error('This is no ZIP archive.');
  for (let at = zip.readUInt32LE(end + 16); zip.readUInt32LE(at) === ENTRY;) {
    const [nameLength, extraLength, commentLength] = [28, 30, 32].map((offset) => zip.readUInt16LE(at + offset));
    const behindName = at + 46 + (nameLength ?? 0);
    if (zip.toString('utf8', at + 46, behindName) === wanted) {
      const local = zip.readUInt32LE(at + 42);
      const begin = local + 30 + zip.readUInt16LE(local + 26) + zip.readUInt16LE(local + 28);
      const bytes = zip.subarray(begin, begin + zip.readUInt32LE(at + 20));
      return zip.readUInt16LE(at + 10) === 0 ? Buffer.from(bytes) : inflateRawSync(bytes);
    }
    at = behindName + (extraLength ?? 0) + (commentLength ?? 0);
  }
  throw new Error(`The archive has no ${wanted}.`);
}
