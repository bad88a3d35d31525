import { parse, type DocumentNode } from 'graphql';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A service's SDL from the repository. */
export function typeDefsOf(service: 'auth' | 'tasks' | 'backup'): DocumentNode {
  const folder = join(import.meta.dirname, '../../..', service, 'src');
  const files = globSync('**/*.graphql', { cwd: folder }).toSorted();
  return parse(files.map((file) => readFileSync(join(folder, file), 'utf8')).join('\n'));
}
