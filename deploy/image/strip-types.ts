// Turns our sources into JavaScript, in place: a process that strips types itself needs 17 MiB more, and each of its threads
// 9 MiB. Lines and columns stay the same.
import { globSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '../..');
const OURS = ['packages', 'libs', 'services', 'deploy'];
/** The end of a module's name anywhere in the sources: in an import, a URL, a list of programs. */
const NAME_ENDS = /\.ts(?=['"`])/g;

for (const file of ours('**/*.ts')) {
  const source = stripTypeScriptTypes(readFileSync(file, 'utf8'));
  writeFileSync(file.replace(/\.ts$/, '.js'), source.replace(NAME_ENDS, '.js'));
  rmSync(file);
}
for (const file of ours('**/package.json')) {
  writeFileSync(file, readFileSync(file, 'utf8').replace(NAME_ENDS, '.js')); // its exports
}

function ours(pattern: string): string[] {
  const exclude = ['**/node_modules/**'];
  return OURS.flatMap((folder) =>
    globSync(pattern, { cwd: join(ROOT, folder), exclude }).map((name) => join(ROOT, folder, name)),
  );
}
