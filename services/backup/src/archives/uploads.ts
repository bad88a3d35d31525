import { AppError, badUserInput } from '@taskmesh/contracts';
import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { isListableName } from '../storage/backup-storage.ts';
import { ENCRYPTED_SUFFIX } from './encryption.ts';
import { MIB } from './limits.ts';

const GZIP_HEAD = Buffer.from([0x1f, 0x8b]);
const AGE_HEAD = Buffer.from('age-encryption.org/v1\n');

/** @throws AppError BAD_USER_INPUT for a name that archives may not have */
export function checkUploadName(file: string): void {
  if (isListableName(file)) return;
  const message = 'must be a plain file name that ends in .tar.gz or .tar.gz.age and has no leading dot';
  throw badUserInput([{ path: 'file', message }], `The name ${message}.`);
}

/**
 * Streams an upload. Fails with an AppError when the client disconnects, sends more than `maxBytes`, or the content does
 * not begin like the kind of file that the name promises.
 */
export function checkUpload(file: string, content: Readable, maxBytes: number): Readable {
  content.on('error', () => undefined); // rethrown to the reader, which may start later
  return Readable.from(checkedParts(file, content, maxBytes), { objectMode: false });
}

async function* checkedParts(file: string, content: Readable, maxBytes: number): AsyncGenerator<Buffer> {
  const expectedHead = file.endsWith(ENCRYPTED_SUFFIX) ? AGE_HEAD : GZIP_HEAD;
  let head = Buffer.alloc(0);
  let bytes = 0;
  try {
    for await (const chunk of content) {
      const part = Buffer.isBuffer(chunk) ? chunk : Buffer.from(chunk);
      bytes += part.length;
      if (bytes > maxBytes) throw tooLarge(maxBytes);
      if (head.length < expectedHead.length) {
        head = Buffer.concat([head, part]);
        if (head.length < expectedHead.length) continue;
        if (!head.subarray(0, expectedHead.length).equals(expectedHead)) throw wrongKind(file);
        yield head;
      } else yield part;
    }
  } catch (cause) {
    throw cause instanceof AppError ? cause : new AppError('BAD_USER_INPUT', 'The upload was interrupted.', { cause });
  }
  if (head.length < expectedHead.length) throw wrongKind(file);
}

function tooLarge(maxBytes: number): AppError {
  return new AppError('PAYLOAD_TOO_LARGE', `An archive may have at most ${Math.floor(maxBytes / MIB)} MiB.`);
}

function wrongKind(file: string): AppError {
  return badUserInput([], `The content is not ${file.endsWith(ENCRYPTED_SUFFIX) ? 'an age' : 'a gzip'} file.`);
}

export async function sha256Of(content: AsyncIterable<Buffer>): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(content, hash);
  return hash.digest('hex');
}
