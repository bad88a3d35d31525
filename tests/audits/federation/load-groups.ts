import { globSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { CaseGroup } from './supergraph.ts';

/** The suite's modules that we have in another form. */
const STAND_INS: Record<string, string> = {
  '../../subgraph.js': new URL('subgraph.ts', import.meta.url).href,
  '../../supergraph.js': new URL('supergraph.ts', import.meta.url).href,
};

/** Imports the groups of cases from the suite's sources, as they are: what they import of packages is ours. */
export async function loadGroups(dir: string): Promise<CaseGroup[]> {
  const base = pathToFileURL(`${dir}/`).href;
  const hooks = registerHooks({
    resolve(specifier, context, next) {
      if (!context.parentURL?.startsWith(base)) return next(specifier, context);
      const standIn = STAND_INS[specifier];
      if (standIn !== undefined) return { url: standIn, format: 'module-typescript', shortCircuit: true };
      if (specifier.startsWith('.')) return next(specifier.replace(/\.js$/, '.ts'), context);
      return next(specifier, { ...context, parentURL: import.meta.url });
    },
  });
  const groups: CaseGroup[] = [];
  for (const file of globSync('src/test-suites/*/index.ts', { cwd: dir }).toSorted()) {
    const module = (await import(pathToFileURL(join(dir, file)).href)) as { default: CaseGroup };
    groups.push(module.default);
  }
  hooks.deregister();
  return groups;
}
