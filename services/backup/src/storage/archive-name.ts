import { basename } from 'node:path';

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
