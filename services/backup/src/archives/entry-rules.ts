import type { ReadEntry } from 'tar';
import { ExtractionError } from './extraction-error.ts';
import type { ArchiveLimits } from './limits.ts';

const FILES = new Set(['File', 'OldFile', 'ContiguousFile']);
const FILE_MODE = 0o600;
const DIRECTORY_MODE = 0o700;

type CheckedEntry = Pick<ReadEntry, 'path' | 'type' | 'mode'> & { header: Pick<ReadEntry['header'], 'size'> };

/**
 * Checks the entries of one archive, each before it is written, and sets safe modes. The returned function throws
 * ExtractionError at the first entry that is not allowed.
 */
export function createEntryCheck(limits: ArchiveLimits): (entry: CheckedEntry) => void {
  const seen = new Set<string>();

  return (entry) => {
    const name = entry.path;
    if (seen.size >= limits.entries) throw new ExtractionError(`The archive has more than ${limits.entries} entries.`);
    if (!FILES.has(entry.type) && entry.type !== 'Directory')
      throw refused(name, `is neither a file nor a folder (${entry.type})`);
    // tar treats a negative size as zero, where other programs may find another archive.
    if (FILES.has(entry.type) && entry.header.size === undefined) throw refused(name, 'has no valid size');
    const parts = partsOf(name, limits);
    const key = parts.join('/').normalize('NFKC').toLowerCase(); // one file on some file systems
    if (seen.has(key)) throw refused(name, 'is there twice');
    seen.add(key);
    entry.mode = entry.type === 'Directory' ? DIRECTORY_MODE : FILE_MODE;
  };
}

function partsOf(name: string, limits: ArchiveLimits): string[] {
  if (name.length > limits.nameLength) throw refused(name, 'has too long a name');
  if (/[\u0000-\u001f\u007f-\u009f\\]/.test(name))
    throw refused(name, 'has a name with control characters or backslashes');
  if (name.startsWith('/') || /^[a-z]:/i.test(name)) throw refused(name, 'has an absolute name');
  const parts = name.split('/').filter((part) => part !== '' && part !== '.');
  if (parts.includes('..')) throw refused(name, 'climbs out of the archive');
  if (parts.length > limits.depth) throw refused(name, 'lies too deep');
  return parts;
}

const SHOWN = 80;

/** Names are untrusted: show them short and printable. */
function refused(name: string, why: string): ExtractionError {
  const shown = name.length > SHOWN ? `${name.slice(0, SHOWN)}…` : name;
  return new ExtractionError(`The archive's entry ${JSON.stringify(shown)} ${why}.`);
}
