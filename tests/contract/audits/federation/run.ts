import { execute, parse, validate } from 'graphql';
import { globSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { isDeepStrictEqual } from 'node:util';
import { createGraph, type Outcome } from '../federated-graph.ts';
import type { CaseResult } from '../public-suite.ts';
import { withStandIns } from '../stand-ins.ts';
import type { Case, CaseGroup, Subgraph } from './suite-modules.ts';

/** Runs the public audit of federation gateways: each case on the compiled executor, with its services in this process. */
export async function runFederationAudit(dir: string): Promise<CaseResult[]> {
  const results: CaseResult[] = [];
  for (const group of await loadGroups(dir)) {
    const run = createGraph(group.subgraphs.map(serviceOf));
    for (const [index, each] of group.cases.entries())
      results.push({ name: `${group.id} #${String(index)}`, problem: await problemOf(each, run) });
  }
  return results;
}

/** Validates queries against the service's schema before it runs them. */
function serviceOf({ name, typeDefs, schema }: Subgraph) {
  const respond = async (query: string, variableValues: Record<string, unknown>) => {
    const document = parse(query);
    const errors = validate(schema, document);
    return errors.length > 0 ? { errors } : execute({ schema, document, variableValues });
  };
  return { name, typeDefs: parse(typeDefs), respond };
}

async function problemOf({ query, expected }: Case, run: (query: string) => Promise<Outcome>) {
  const { data, errors } = await run(query).catch((error: unknown): Outcome => ({ data: null, errors: [error] }));
  const isRight =
    isDeepStrictEqual(data, expected.data ?? null) &&
    (expected.errors === undefined || expected.errors === errors.length > 0);
  if (isRight) return undefined;
  const describe = (error: unknown) => (Error.isError(error) ? error.message : JSON.stringify(error));
  return `${JSON.stringify(data)}${errors.map((error) => `\n    ${describe(error)}`).join('')}`;
}

/** Our replacements for modules of the suite. */
const OURS = new URL('suite-modules.ts', import.meta.url);
const STAND_INS = { '../../subgraph.js': OURS, '../../supergraph.js': OURS };

/** Imports the groups of cases from the suite's unmodified sources, which get our versions of their packages. */
async function loadGroups(dir: string): Promise<CaseGroup[]> {
  return withStandIns(dir, STAND_INS, async () => {
    const groups: CaseGroup[] = [];
    for (const file of globSync('src/test-suites/*/index.ts', { cwd: dir }).toSorted()) {
      const module = (await import(pathToFileURL(join(dir, file)).href)) as { default: CaseGroup };
      groups.push(module.default);
    }
    return groups;
  });
}
