import { globSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { withStandIns } from '../stand-ins.ts';
import type { CaseGroup } from './supergraph.ts';

/** The suite's modules that we have in another form. */
const STAND_INS = {
  '../../subgraph.js': new URL('subgraph.ts', import.meta.url),
  '../../supergraph.js': new URL('supergraph.ts', import.meta.url),
};

/** Imports the groups of cases from the suite's sources, as they are: what they import of packages is ours. */
export async function loadGroups(dir: string): Promise<CaseGroup[]> {
  return withStandIns(dir, STAND_INS, async () => {
    const groups: CaseGroup[] = [];
    for (const file of globSync('src/test-suites/*/index.ts', { cwd: dir }).toSorted()) {
      const module = (await import(pathToFileURL(join(dir, file)).href)) as { default: CaseGroup };
      groups.push(module.default);
    }
    return groups;
  });
}
