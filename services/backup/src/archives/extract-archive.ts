import { AppError, unavailable } from '@taskmesh/contracts';
import type { OnWorkProgress } from '@taskmesh/internal-api';
import { runInChild } from '@taskmesh/pg-rows/child';
import type { Readable, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';
import type { CommonParts } from '../common-parts.ts';
import { DiskSpaceError, statDisk, type MeasureDisk } from '../disk-space.ts';
import { TooSlowError } from '../stall-detection.ts';
import type { OpenArchive } from '../storage/backup-storage.ts';
import { openContent } from './encryption.ts';
import {
  asExtractionError,
  ExtractionError,
  READER_LOST,
  tooLarge,
  TooLargeError,
  type ArchiveLimits,
} from './limits.ts';
import type { Unpacking } from './unpack-archive.ts';

export interface Extraction {
  /** A gzip-compressed tar file. */
  source: Readable;
  sizeBytes: number;
  /** An empty folder to which no one else may write. */
  dir: string;
  limits: ArchiveLimits;
  onRead?: (bytes: number) => void;
  /** Reads the disk's state. @default from the system */
  measureDisk?: MeasureDisk | undefined;
}

const PROCESS = fileURLToPath(new URL('./extract.process.ts', import.meta.url));

/** One archive may take at most this fraction (1/4) of the usable disk space. */
const USABLE_DISK_DIVISOR = 4;

/**
 * Extracts regular files and folders into `dir` only, in a separate process.
 * @throws ExtractionError unless the archive is intact and free of links, devices, `..` in names and duplicates. Files
 * that were extracted before the error stay in `dir`.
 */
export async function extractArchive(extraction: Extraction): Promise<void> {
  const { source, sizeBytes, dir, limits, measureDisk = statDisk } = extraction;
  const deadline = AbortSignal.timeout(limits.timeoutMs);
  try {
    const { compressedBytes } = limits;
    if (sizeBytes > compressedBytes)
      throw new ExtractionError(`The archive has more than ${compressedBytes} bytes.`, {
        cause: tooLarge(compressedBytes, 'packed'),
      });
    const roomBytes = Math.floor((await measureDisk(dir)).usableBytes / USABLE_DISK_DIVISOR);
    const input = { dir, limits, ...(roomBytes < limits.expandedBytes ? { roomBytes } : {}) };
    await unpack(extraction, input, deadline);
  } catch (error) {
    if (error instanceof AppError) throw error; // the archive's source is unavailable
    throw deadline.aborted ? tooSlow(limits) : asExtractionError(error);
  } finally {
    source.destroy();
  }
}

/** Runs the process. If the source fails, its error is thrown: the process sees only a truncated or even complete archive. */
async function unpack({ source, onRead = () => undefined }: Extraction, input: Unpacking, signal: AbortSignal) {
  let sourceError: unknown;
  async function* parts() {
    let bytes = 0;
    try {
      for await (const part of source as AsyncIterable<Buffer>) {
        onRead((bytes += part.length));
        yield part;
      }
    } catch (error) {
      sourceError = error;
      throw error;
    }
  }
  const writeStdin = (stdin: Writable) => void pipeline(parts, stdin).catch(() => undefined); // the process reports the failure
  const errors = [ExtractionError, DiskSpaceError, TooLargeError];
  const lost = (cause?: unknown) => unavailable(READER_LOST, cause);
  const job = { path: PROCESS, input: { ...input }, signal, writeStdin, errors, memoryError, lost };
  await runInChild(job).catch((error: unknown) => Promise.reject((sourceError ?? error) as Error));
  if (sourceError !== undefined) throw sourceError;
}

const memoryError = () =>
  new ExtractionError('The archive needs more memory than an extraction may use: its process has ended.');

function tooSlow({ timeoutMs }: ArchiveLimits): ExtractionError {
  const message = `Extraction took longer than ${timeoutMs / 1000} seconds.`;
  return new ExtractionError(message, { cause: new TooSlowError(message) });
}

/** Extracts an archive from the storage, decrypted, into an empty folder. @throws ExtractionError */
export async function extractStored(
  { file, archive, dir, onProgress }: { file: string; archive: OpenArchive; dir: string; onProgress?: OnWorkProgress },
  { cipher, archiveLimits: limits }: Pick<CommonParts, 'cipher' | 'archiveLimits'>,
): Promise<void> {
  const { sizeBytes } = archive;
  const source = await openContent(file, archive.read(), cipher);
  const onRead = (bytes: number) =>
    onProgress?.({ phase: 'extract', doneBytes: Math.min(bytes, sizeBytes), totalBytes: sizeBytes });
  await extractArchive({ source, sizeBytes, dir, limits, onRead });
}
