import { createHash } from 'node:crypto';
import { pipeline } from 'node:stream/promises';

export async function sha256Of(content: AsyncIterable<Buffer>): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(content, hash);
  return hash.digest('hex');
}
