import { basename } from 'node:path';
import type { Readable } from 'node:stream';

export interface StoredArchive {
  file: string;
  sizeBytes: number;
  modifiedAt: Date;
}

/** An open archive, unaffected if its name is deleted or reused. The caller closes it. */
export interface OpenArchive {
  kind: 'found';
  sizeBytes: number;
  /** `signal` aborts a read that waits for the storage. */
  read(signal?: AbortSignal): Readable;
  close(): Promise<void>;
}

/** The result of opening a name, which may be any text. */
export type Located = OpenArchive | { kind: 'outside' } | { kind: 'missing' };

export interface WrittenArchive {
  sizeBytes: number;
  sha256: string;
}

/** An archive of this name already exists and is unchanged. */
export class ArchiveExistsError extends Error {
  override readonly name = 'ArchiveExistsError';
  /** The archive that would have been written. */
  readonly refused: WrittenArchive;

  constructor(refused: WrittenArchive) {
    super('There is an archive of that name.');
    this.refused = refused;
  }
}

/** Stores archives. All methods fail with AppError SERVICE_UNAVAILABLE and the reason when the storage is unavailable. */
export interface BackupStorage {
  /** The directory on a local disk, if there is one. */
  dir?: string;
  /** Creates a missing directory; returns whether it did. Call this once: a directory lost later must not be recreated. */
  prepare(): Promise<boolean>;
  /** Lists complete archives, in no particular order. */
  list(): Promise<StoredArchive[]>;
  /** Finds the archive with exactly this name. */
  find(file: string): Promise<StoredArchive | undefined>;
  /** Opens `name`, which may contain any characters. Throws only when the storage itself fails. */
  open(name: string): Promise<Located>;
  /**
   * Writes an archive, which is listed only once it is complete. A failed write leaves nothing behind.
   * @throws ArchiveExistsError when the name is taken by the time the archive is complete
   */
  write(file: string, content: Readable): Promise<WrittenArchive>;
  remove(file: string): Promise<boolean>;
  /** Removes what killed writers left behind; returns the number of pieces. */
  sweep(): Promise<number>;
  close(): Promise<void>;
}

/** Returns a function that runs work on the storage, and translates its failures for operators. */
export const failureTranslator =
  (failureOf: (error: unknown) => unknown) =>
  async <Result>(work: () => Promise<Result>): Promise<Result> => {
    try {
      return await work();
    } catch (error) {
      throw failureOf(error);
    }
  };

const ARCHIVE_NAME = /\.tar\.gz(\.age)?$/;
const MAX_NAME_BYTES = 255;
/** A drive's letter counts as a path out of a directory. */
const NOT_IN_A_NAME = /^[a-z]:|[\u0000-\u001f\u007f-\u009f\\]/i;

/**
 * Whether a file of this name counts as an archive: a single path component that every storage accepts unchanged, without
 * the leading dot of unfinished files.
 */
export function isListableName(name: string): boolean {
  return (
    ARCHIVE_NAME.test(name) &&
    !name.startsWith('.') &&
    basename(name) === name &&
    name.isWellFormed() &&
    !NOT_IN_A_NAME.test(name) &&
    Buffer.byteLength(name) <= MAX_NAME_BYTES
  );
}
