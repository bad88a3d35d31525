import Negotiator from 'negotiator';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';

const gzipAsync = promisify(gzip);
/** Below this, compression costs more than it saves. */
const MIN_LENGTH = 4 * 1024;
const LEVEL = 3;

/** Whether a text of this length is compressed for a client that accepts gzip. */
export const isCompressible = (text: string): boolean => text.length >= MIN_LENGTH;

/** Whether a client accepts gzip, at least as much as the text as it is. */
export function acceptsGzip(acceptEncoding: string | string[] | undefined): boolean {
  if (!acceptEncoding) return false;
  const negotiator = new Negotiator({ headers: { 'accept-encoding': String(acceptEncoding) } });
  return negotiator.encoding(['gzip', 'identity']) === 'gzip';
}

/** On a thread. Undefined for a client that does not accept it. */
export async function gzipFor(
  acceptEncoding: string | string[] | undefined,
  text: string,
): Promise<Buffer | undefined> {
  return acceptsGzip(acceptEncoding) ? gzipAsync(text, { level: LEVEL }) : undefined;
}
