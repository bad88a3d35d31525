import type { Readable } from 'node:stream';

/** An archive as the storage lists it. */
export interface StoredArchive {
  file: string;
  sizeBytes: number;
  modifiedAt: Date;
}

/** An archive that is held open: what happens to its name no longer matters. Who opened it closes it. */
export interface OpenArchive {
  kind: 'found';
  sizeBytes: number;
  /** From the first byte. */
  read(): Readable;
  close(): Promise<void>;
}

/** What a name can lead to: nothing is thrown for names that a caller made up. */
export type Located = OpenArchive | { kind: 'outside' } | { kind: 'missing' };

export interface WrittenArchive {
  sizeBytes: number;
  sha256: string;
}

/** There is an archive of this name already; it is as it was. */
export class ArchiveExistsError extends Error {
  override readonly name = 'ArchiveExistsError';
  /** What the refused one would have been. */
  readonly refused: WrittenArchive;

  constructor(refused: WrittenArchive) {
    super('There is an archive of that name.');
    this.refused = refused;
  }
}

/** Where archives lie. That it cannot be asked is an AppError SERVICE_UNAVAILABLE with the reason. */
export interface BackupStorage {
  /** The directory on a disk of ours that it fills; absent where there is none. */
  dir?: string;
  /** Makes the place where there is none, and says whether it did. To be called once: a place that is gone later is not made anew. */
  prepare(): Promise<boolean>;
  /** Whole archives only, in no particular order; one that is still being written is not there yet. */
  list(): Promise<StoredArchive[]>;
  /** The archive of exactly this name, as it is listed. */
  find(file: string): Promise<StoredArchive | undefined>;
  /** Opens what `name` means, whatever characters it has. Throws only when the storage itself fails. */
  open(name: string): Promise<Located>;
  /**
   * Makes an archive from all of `content`; it is listed from the moment when it is whole. A failed write leaves nothing.
   * @throws ArchiveExistsError when the name is taken in the end
   */
  write(file: string, content: Readable): Promise<WrittenArchive>;
  /** Says whether there was an archive of exactly this name. */
  remove(file: string): Promise<boolean>;
  /** Removes what writers that were killed left behind; says how many pieces. */
  sweep(): Promise<number>;
  close(): Promise<void>;
}
