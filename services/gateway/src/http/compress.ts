import Negotiator from 'negotiator';
import pLimit from 'p-limit';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';

const gzipAsync = promisify(gzip);
/** Below this, compression costs more than it saves. */
const MIN_LENGTH = 4 * 1024;
const LEVEL = 3;
const limit = pLimit(2);
/** Beyond this, responses are sent as they are. */
const MAX_WAITING = 50;

/** Whether a text of this length is compressed for a client that accepts gzip. */
export const isCompressible = (text: string): boolean => text.length >= MIN_LENGTH;

/** Whether a client accepts gzip, at least as much as the text as it is. */
export function acceptsGzip(acceptEncoding: string | string[] | undefined): boolean {
  if (!acceptEncoding) return false;
  const negotiator = new Negotiator({ headers: { 'accept-encoding': String(acceptEncoding) } });
  return negotiator.encoding(['gzip', 'identity']) === 'gzip';
}

/** On a thread, few at a time. Undefined for a client that does not accept it, or when too many are compressed. */
export async function gzipFor(
  acceptEncoding: string | string[] | undefined,
  text: string,
): Promise<Buffer | undefined> {
  if (limit.pendingCount >= MAX_WAITING || !acceptsGzip(acceptEncoding)) return undefined;
  return limit(() => gzipAsync(text, { level: LEVEL }));
}
