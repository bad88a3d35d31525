// Lists the sources of the console. Plain JavaScript, so that it runs on any Node from version 20.
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

export const CONSOLE = fileURLToPath(new URL('..', import.meta.url));
/** Includes the look that the console shares with the gateway's own pages. */
const SOURCES = ['src', '../src/pages/look', '../../../packages/client/src'];
/** Includes package.json, which has the versions of the libraries and build tools. */
const PARTS = ['package.json', 'build', ...SOURCES];

/** Returns a hash that changes whenever a file of the build changes. */
export function hashOfSources() {
  const hash = createHash('sha256');
  for (const file of PARTS.flatMap(filesIn)) {
    const bytes = readFileSync(join(CONSOLE, file));
    hash.update(`${file.replaceAll(sep, '/')}\0${bytes.length}\0`).update(bytes);
  }
  return hash.digest('hex').slice(0, 32);
}

export function watchedFolders() {
  return SOURCES.map((part) => join(CONSOLE, part));
}

function filesIn(part) {
  if (part.endsWith('.json')) return [part];
  return readdirSync(join(CONSOLE, part), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.name.includes('.test.'))
    .map((entry) => relative(CONSOLE, join(entry.parentPath ?? entry.path, entry.name)))
    .toSorted();
}
