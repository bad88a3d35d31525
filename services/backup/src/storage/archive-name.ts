const ARCHIVE_NAME = /\.tar\.gz(\.age)?$/;

/** Whether a file of this name is taken as an archive. Names with a leading dot are those of unfinished writes. */
export function isArchiveName(name: string): boolean {
  return ARCHIVE_NAME.test(name) && !name.startsWith('.');
}
