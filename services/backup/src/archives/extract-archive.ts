import { AppError, unavailable } from '@taskmesh/contracts';
import type { ChildProcess } from 'node:child_process';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';
import { isEndedByOthers, withProcess } from '../with-process.ts';
import { lookAtDisk, DiskSpaceError, type LookAtDisk } from '../disk-space.ts';
import { TooSlowError } from '../stall-detection.ts';
import type { Told } from './extract.process.ts';
import { asExtractionError, ExtractionError } from './extraction-error.ts';
import { tooLarge, TooLargeError, type ArchiveLimits } from './limits.ts';

export interface Extraction {
  /** A gzip-compressed tar file. */
  source: Readable;
  sizeBytes: number;
  /** An empty folder to which nobody else may write. */
  dir: string;
  limits: ArchiveLimits;
  onRead?: (bytes: number) => void;
  /** How to look at the disk. @default asks the system */
  look?: LookAtDisk | undefined;
}

const PROCESS = fileURLToPath(new URL('./extract.process.ts', import.meta.url));

/** One archive may take at most this fraction (1/4) of the usable disk space. */
const USABLE_DISK_SHARE = 4;

/**
 * Extracts regular files and folders into `dir` only, in a separate process.
 * @throws ExtractionError unless the archive is intact and free of links, devices, `..` in names and duplicates. Files
 * extracted before that stay in `dir`.
 */
export async function extractArchive(extraction: Extraction): Promise<void> {
  const { source, sizeBytes, dir, limits, look = lookAtDisk } = extraction;
  const deadline = AbortSignal.timeout(limits.timeoutMs);
  try {
    const { compressedBytes } = limits;
    if (sizeBytes > compressedBytes)
      throw new ExtractionError(`The archive has more than ${compressedBytes} bytes.`, {
        cause: tooLarge(compressedBytes, 'packed'),
      });
    const roomBytes = Math.floor((await look(dir)).usableBytes / USABLE_DISK_SHARE);
    const order = { dir, limits, ...(roomBytes < limits.expandedBytes ? { roomBytes } : {}) };
    await withProcess({ path: PROCESS, order, signal: deadline, hasInput: true }, (child) => feed(child, extraction));
  } catch (error) {
    if (error instanceof AppError) throw error; // the archive's source is unavailable
    throw deadline.aborted ? tooSlow(limits) : asExtractionError(error);
  } finally {
    source.destroy();
  }
}

/** To the process, a source that fails looks like a truncated archive, or even a complete one. */
async function feed(child: ChildProcess, { source, onRead = () => undefined }: Extraction): Promise<void> {
  let lost: unknown;
  async function* parts() {
    let bytes = 0;
    try {
      for await (const part of source as AsyncIterable<Buffer>) {
        onRead((bytes += part.length));
        yield part;
      }
    } catch (error) {
      lost = error;
      throw error;
    }
  }
  if (child.stdin) pipeline(parts, child.stdin).catch(() => undefined); // the process reports the failure
  const failure = await failureOf(child);
  if (lost ?? failure) throw lost ?? failure;
}

function failureOf(child: ChildProcess): Promise<Error | undefined> {
  return new Promise((resolve) => {
    child.once('message', (told: Told) => resolve(told.kind === 'extracted' ? undefined : errorOf(told)));
    child.once('error', resolve);
    child.once('exit', (_code, signal) =>
      resolve(isEndedByOthers(signal) ? unavailable('The extraction was ended by somebody.') : tooMuch()),
    );
  });
}

/** Errors of ours, by the name that the process sends. */
const OWN_CAUSES: Record<string, (message: string) => Error> = {
  DiskSpaceError: (message) => new DiskSpaceError(message),
  TooLargeError: (message) => new TooLargeError(message),
};

const tooMuch = () => new ExtractionError('The archive needs more than an extraction may have: its process has ended.');

function errorOf({ message, cause }: Extract<Told, { kind: 'failed' }>): ExtractionError {
  if (!cause) return new ExtractionError(message);
  const { code, message: why } = cause;
  const own = OWN_CAUSES[cause.name]?.(why);
  return new ExtractionError(message, { cause: own ?? Object.assign(new Error(why), { code }) });
}

function tooSlow({ timeoutMs }: ArchiveLimits): ExtractionError {
  const message = `Extraction took longer than ${timeoutMs / 1000} seconds.`;
  return new ExtractionError(message, { cause: new TooSlowError(message) });
}
