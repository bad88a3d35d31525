import { ConfigError } from '@taskmesh/service';
import { randomUUID } from 'node:crypto';
import { addAbortSignal, type Readable } from 'node:stream';
import { createArchiveCipher } from '../src/archives/encryption.ts';
import { readKeyFile } from '../src/archives/key-file.ts';
import { Refused, Unreachable, type BackupClient, type CommandResult } from './client.ts';
import { Interrupted } from './interruption.ts';
import { UsageError } from './options.ts';
import type { ProgressView } from './progress.ts';

export interface Decryption {
  file: string;
  keyFile: string;
  view: ProgressView;
  signal: AbortSignal | undefined;
}

/**
 * Decrypts an archive locally and uploads it under another name for the duration of `work`; the key never leaves this
 * machine. The restore loads the same data unencrypted anyway, so the upload reveals nothing more.
 */
export async function withDecrypted(
  client: BackupClient,
  { file, keyFile, view, signal }: Decryption,
  work: (plainFile: string) => Promise<CommandResult>,
): Promise<CommandResult> {
  const plainFile = `decrypted-${randomUUID()}.tar.gz`;
  const cipher = await createArchiveCipher({ identities: identitiesIn(keyFile), recipients: [] });
  if (!cipher) throw new Refused('There is no key in that file.');
  let uploading: Readable | undefined;
  try {
    view.show({ phase: 'decrypt' });
    const { content } = await client.download(file);
    uploading = await cipher.decrypt(content);
    await upload(client, plainFile, uploading, signal);
    uploading = undefined;
    const result = await work(plainFile);
    const message = `${result.message} The decrypted archive ${plainFile} could not be deleted: delete it.`;
    await client.remove(plainFile).catch(() => Promise.reject(new Refused(message)));
    return result;
  } catch (error) {
    const isRefused = error instanceof Refused && (error.status ?? 0) < 500; // a proxy responds with 502 or 504
    const mayArrive = uploading?.readableEnded && !isRefused;
    if (await ensureDeleted(client, plainFile, mayArrive)) throw error;
    throw withHint(error, `The decrypted archive ${plainFile} may still exist: delete it.`);
  }
}

/** Also true if the archive never existed, unless it `mayArrive`: everything was sent, and Taskmesh has not responded. */
async function ensureDeleted(client: BackupClient, plainFile: string, mayArrive = false): Promise<boolean> {
  try {
    await client.remove(plainFile);
    return true;
  } catch (error) {
    return !mayArrive && error instanceof Refused && error.status === 404;
  }
}

function withHint(error: unknown, hint: string): unknown {
  if (error instanceof Interrupted) return error.with(hint);
  const Kind = error instanceof Unreachable ? Unreachable : Refused;
  return new Kind(`${error instanceof Error ? error.message : String(error)} ${hint}`);
}

function identitiesIn(keyFile: string): string[] {
  try {
    return readKeyFile({ '--identity': keyFile }, '--identity');
  } catch (error) {
    throw error instanceof ConfigError ? new UsageError(`${error.problems.join('; ')}.`, { cause: error }) : error;
  }
}

async function upload(client: BackupClient, file: string, content: Readable, signal: AbortSignal | undefined) {
  let failure: unknown;
  content.on('error', (error) => (failure = error));
  if (signal) addAbortSignal(signal, content);
  await client
    .upload(file, content)
    .catch((error: unknown) => Promise.reject(signal?.aborted ? signal.reason : (failure ?? error)));
  signal?.throwIfAborted();
}
