import { errorCode, errorMessage } from '@taskmesh/contracts/error-details';
import { ConfigError } from '@taskmesh/service';
import { Readable } from 'node:stream';
import { ReadableStream as WebStream } from 'node:stream/web';
import type { BackupConfig } from '../config.ts';
import { ExtractionError } from './limits.ts';

export const ENCRYPTED_SUFFIX = '.age';

/** Encrypts archives with age (age-encryption.org/v1) as streams, never holding a whole archive in memory. */
export interface ArchiveCipher {
  /** Whether our identities can decrypt new archives. */
  opensOwn: boolean;
  encrypt(plain: Readable): Promise<Readable>;
  /**
   * @throws KeyError when none of our keys opens the archive
   * @throws ExtractionError, also in the middle of the stream, when the archive is corrupt, modified or truncated
   */
  decrypt(content: Readable): Promise<Readable>;
}

/** The archive was encrypted for another key, or there is no key. */
export class KeyError extends ExtractionError {}

export interface ArchiveKeys {
  /** Each of them can decrypt archives. */
  identities: string[];
  /** The recipients of new archives; if empty, the holder of the first identity. */
  recipients: string[];
}

/** Returns undefined without any key: archives are then not encrypted. @throws Error when a key is invalid */
export async function createArchiveCipher({ identities, recipients }: ArchiveKeys): Promise<ArchiveCipher | undefined> {
  if (identities.length + recipients.length === 0) return undefined;
  // Imported only if needed: loading its elliptic curves takes a tenth of the start time.
  const { Decrypter, Encrypter, identityToRecipient } = await import('age-encryption');
  const own = await Promise.all(identities.map((identity) => identityToRecipient(identity))).catch(() => {
    throw new Error('one of its characters is wrong, or some are missing'); // the library's message has the key
  });
  const encryptsTo = recipients.length > 0 ? recipients : own.slice(0, 1);
  const createEncrypter = () => {
    const encrypter = new Encrypter();
    for (const recipient of encryptsTo) encrypter.addRecipient(recipient);
    return encrypter;
  };
  const sample = await createEncrypter().encrypt(''); // fails if the recipients cannot be combined
  if (!hasShortHeader(Buffer.from(sample))) throw new Error('there are too many to read an archive again');
  const decrypter = new Decrypter();
  for (const identity of identities) decrypter.addIdentity(identity);

  return {
    opensOwn: own.some((recipient) => encryptsTo.includes(recipient)),

    async encrypt(plain) {
      const encrypter = createEncrypter();
      const encrypted = Readable.from(parts(await encrypter.encrypt(asWeb(plain))), { objectMode: false });
      return endingWith(encrypted, plain);
    },

    async decrypt(content) {
      if (identities.length === 0) {
        content.destroy();
        throw new KeyError(NO_KEY);
      }
      try {
        const opened = await decrypter.decrypt(asWeb(Readable.from(withShortHeader(content), { objectMode: false })));
        return endingWith(Readable.from(decryptParts(opened), { objectMode: false }), content);
      } catch (error) {
        content.destroy();
        throw failureOf(error, "The archive's header is not that of an age file.");
      }
    },
  };
}

/** Returns the archive's content, decrypted if its name says that it is encrypted. @throws KeyError, ExtractionError */
export async function openContent(
  file: string,
  content: Readable,
  cipher: ArchiveCipher | undefined,
): Promise<Readable> {
  if (!file.endsWith(ENCRYPTED_SUFFIX)) return content;
  if (cipher) return cipher.decrypt(content);
  content.destroy();
  throw new KeyError(NO_KEY);
}

/** Destroys the source together with the stream. A stream that was never read does not do this by itself. */
function endingWith(stream: Readable, source: Readable): Readable {
  return stream.once('close', () => source.destroy());
}

const NO_KEY = 'The archive is encrypted, and there is no key: BACKUP_KEY_FILE is not set.';
const NO_MATCH = "no identity matched any of the file's recipients";

function failureOf(error: unknown, otherwise: string): unknown {
  if (error instanceof ExtractionError || errorCode(error) !== '') return error;
  if (error instanceof Error && error.message === NO_MATCH)
    return new KeyError('The archive was encrypted with another key.', { cause: error });
  return new ExtractionError(otherwise, { cause: error });
}

/** Room for more than 150 recipients, or 10 post-quantum ones. For each of them, the library tries each of our keys without yielding. */
const MAX_HEADER_BYTES = 16 * 1024;
const END_OF_HEADER = '\n--- ';
const hasShortHeader = (head: Buffer) => head.subarray(0, MAX_HEADER_BYTES).includes(END_OF_HEADER);

/** Limits the header's length, because the library reads a header of any length completely before it checks it. */
async function* withShortHeader(content: Readable): AsyncGenerator<Buffer> {
  let head: Buffer | undefined = Buffer.alloc(0);
  for await (const part of content) {
    if (!head) {
      yield part;
      continue;
    }
    head = Buffer.concat([head, part]);
    if (hasShortHeader(head)) {
      yield head;
      head = undefined;
    } else if (head.length > MAX_HEADER_BYTES) throw new ExtractionError("The archive's header is too long.");
  }
  if (head) yield head;
}

async function* decryptParts(stream: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  try {
    yield* parts(stream);
  } catch (error) {
    throw failureOf(error, 'The archive cannot be decrypted: it was changed, or it ends too early.');
  }
}

async function* parts(stream: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  for await (const part of stream) yield Buffer.from(part.buffer, part.byteOffset, part.byteLength);
}

/** Replaces Readable.toWeb, which can throw an uncatchable error when its reader is cancelled at the wrong moment. */
function asWeb(readable: Readable): ReadableStream<Uint8Array> {
  return WebStream.from(readable) as ReadableStream<Uint8Array>; // two incompatible declarations of the same type
}

/** @throws ConfigError for invalid keys and recipients, and when our keys could not open the archives that are to be verified */
export async function createCipher(config: BackupConfig): Promise<ArchiveCipher | undefined> {
  const { recipients, schedule, verifiesScheduled, verifySchedule } = config;
  const identities = config.secrets.keys;
  await createArchiveCipher({ identities, recipients: [] }).catch((error: unknown) => {
    throw new ConfigError([`BACKUP_KEY_FILE contains an invalid key: ${errorMessage(error)}`]);
  });
  const cipher = await createArchiveCipher({ identities, recipients }).catch((error: unknown) => {
    throw new ConfigError([
      `BACKUP_RECIPIENTS must be age recipients (age1…) with commas between them: ${errorMessage(error)}`,
    ]);
  });
  const verifiesArchives = (schedule !== undefined && verifiesScheduled) || verifySchedule !== undefined;
  if (cipher && !cipher.opensOwn && verifiesArchives)
    throw new ConfigError([
      'BACKUP_KEY_FILE has no key for BACKUP_RECIPIENTS, so archives could not be verified: add the key of one of them, or set BACKUP_VERIFY=false',
    ]);
  return cipher;
}
