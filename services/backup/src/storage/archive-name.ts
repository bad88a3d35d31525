import { basename } from 'node:path';

const ARCHIVE_NAME = /\.tar\.gz(\.age)?$/;
/** File systems take no longer names. */
const MAX_NAME_BYTES = 255;
const NOT_IN_A_NAME = /[\u0000-\u001f\u007f-\u009f\\]/;

/**
 * Whether a file of this name is taken as an archive: one part without separators that every storage takes as it is.
 * Names with a leading dot are those of unfinished writes.
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
