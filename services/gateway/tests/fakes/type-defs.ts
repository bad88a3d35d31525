import { parse, type DocumentNode } from 'graphql';
import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { InProcessServices } from '../../src/connections/in-process.ts';

export type OwnService = keyof InProcessServices;

const SERVICES = join(import.meta.dirname, '../../..');

/** All services with a part in the graph. */
export const OWN_SERVICES = globSync('*/codegen.json', { cwd: SERVICES }).map(dirname) as OwnService[];

/** A service's SDL from the repository. */
export function typeDefsOf(service: OwnService): DocumentNode {
  const folder = join(SERVICES, service, 'src');
  const files = globSync('**/*.graphql', { cwd: folder }).toSorted();
  return parse(files.map((file) => readFileSync(join(folder, file), 'utf8')).join('\n'));
}
