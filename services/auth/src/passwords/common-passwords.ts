import { readFileSync } from 'node:fs';

/** The most common passwords, in lower case; the file names its source. */
export function readCommonPasswords(): ReadonlySet<string> {
  const lines = readFileSync(new URL('./common-passwords.txt', import.meta.url), 'utf8').split('\n');
  return new Set(lines.filter((line) => line !== '' && !line.startsWith('#')));
}
