import { basename } from 'node:path';
import type { Readable } from 'node:stream';

export interface StoredArchive {
  file: string;
  sizeBytes: number;
  modifiedAt: Date;
}

/** An open archive, unaffected by changes of its name. The caller closes it. */
export interface OpenArchive {
  kind: 'found';
  sizeBytes: number;
  /** `signal` ends a read that waits for the storage. */
  read(signal?: AbortSignal): Readable;
  close(): Promise<void>;
}

/** The result of opening a name; made-up names never throw. */
export type Located = OpenArchive | { kind: 'outside' } | { kind: 'missing' };

export interface WrittenArchive {
  sizeBytes: number;
  sha256: string;
}

/** An archive of this name already exists and is unchanged. */
export class ArchiveExistsError extends Error {
  override readonly name = 'ArchiveExistsError';
  /** What would have been written. */
  readonly refused: WrittenArchive;

  constructor(refused: WrittenArchive) {
    super('There is an archive of that name.');
    this.refused = refused;
  }
}

/** Where archives are stored. Fails with AppError SERVICE_UNAVAILABLE and the reason when it is unavailable. */
export interface BackupStorage {
  /** The directory on a local disk, if there is one. */
  dir?: string;
  /** Creates the place if missing; returns whether it did. Call it once: a place lost later is not recreated. */
  prepare(): Promise<boolean>;
  /** Complete archives only, in no particular order. */
  list(): Promise<StoredArchive[]>;
  /** The archive with exactly this name. */
  find(file: string): Promise<StoredArchive | undefined>;
  /** Opens `name`, which may contain any characters. Throws only when the storage itself fails. */
  open(name: string): Promise<Located>;
  /**
   * Writes an archive, which is listed only once it is complete. A failed write leaves nothing.
   * @throws ArchiveExistsError when the name is taken at the end
   */
  write(file: string, content: Readable): Promise<WrittenArchive>;
  remove(file: string): Promise<boolean>;
  /** Removes what killed writers left behind; returns the number of pieces. */
  sweep(): Promise<number>;
  close(): Promise<void>;
}

const ARCHIVE_NAME = /\.tar\.gz(\.age)?$/;
const MAX_NAME_BYTES = 255;
const NOT_IN_A_NAME = /[\u0000-\u001f\u007f-\u009f\\]/;

/**
 * Whether a file of this name counts as an archive: one path component that every storage accepts unchanged. A leading
 * dot marks unfinished files.
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
