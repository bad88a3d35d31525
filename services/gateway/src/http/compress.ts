import Negotiator from 'negotiator';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';

const gzipAsync = promisify(gzip);
/** Below this, compression costs more than it saves. */
const MIN_LENGTH = 4 * 1024;
const LEVEL = 3;
/** Beyond this, responses are sent as they are: a large one takes long, and must not delay those of others. */
const CONCURRENCY = 2;
let running = 0;

/** Whether a text of this length is compressed for a client that accepts gzip. */
export const isCompressible = (text: string): boolean => text.length >= MIN_LENGTH;

/** Whether a client accepts gzip, at least as much as the text as it is. */
export function acceptsGzip(acceptEncoding: string | string[] | undefined): boolean {
  if (!acceptEncoding) return false;
  const negotiator = new Negotiator({ headers: { 'accept-encoding': String(acceptEncoding) } });
  return negotiator.encoding(['gzip', 'identity']) === 'gzip';
}

/** On a thread, few at a time. Undefined for a client that does not accept it, or while others are compressed. */
export async function gzipFor(
  acceptEncoding: string | string[] | undefined,
  text: string,
): Promise<Buffer | undefined> {
  if (running >= CONCURRENCY || !acceptsGzip(acceptEncoding)) return undefined;
  running++;
  try {
    return await gzipAsync(text, { level: LEVEL });
  } finally {
    running--;
  }
}
