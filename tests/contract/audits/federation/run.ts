import { composeServices } from '@apollo/composition';
import { createFederatedExecutor, readSupergraph, type SubgraphAnswer } from '@taskmesh/federation';
import { execute, getOperationAST, getVariableValues, parse, validate, type GraphQLSchema } from 'graphql';
import { globSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { isDeepStrictEqual } from 'node:util';
import { withStandIns } from '../stand-ins.ts';
import type { Case, CaseGroup, Subgraph } from './suite-modules.ts';

interface CaseResult {
  name: string;
  /** Undefined if the case passed. */
  problem: string | undefined;
}

interface Outcome {
  data: unknown;
  errors: readonly unknown[];
}

/** Runs the public audit of federation gateways: each case on the compiled executor, with its services in this process. */
export async function runFederationAudit(dir: string): Promise<CaseResult[]> {
  const results: CaseResult[] = [];
  for (const group of await loadGroups(dir)) {
    const run = createGraph(group.subgraphs);
    for (const [index, each] of group.cases.entries())
      results.push({ name: `${group.id} #${String(index)}`, problem: await problemOf(each, run) });
  }
  return results;
}

/** Composes the services into one graph for the compiled executor, which calls them in this process. */
function createGraph(subgraphs: readonly Subgraph[]): (query: string) => Promise<Outcome> {
  const { supergraphSdl, errors: problems } = composeServices(
    subgraphs.map(({ name, typeDefs }) => ({ name, url: `http://${name}`, typeDefs: parse(typeDefs) })),
  );
  if (supergraphSdl === undefined) throw new Error(String(problems));
  const graph = readSupergraph(supergraphSdl);
  const schemas = new Map(subgraphs.map(({ name, schema }) => [name, schema]));
  const executor = createFederatedExecutor<undefined>(graph, async ({ operation, variables }) => {
    const schema = schemas.get(operation.service);
    if (!schema) throw new Error(`There is no service ${operation.service}.`);
    // As over a network, the result is JSON.
    return JSON.parse(JSON.stringify(await respond(schema, operation.text, variables))) as SubgraphAnswer;
  });
  return async (query) => {
    const document = parse(query);
    const invalid = validate(graph.schema, document);
    if (invalid.length > 0) return { data: null, errors: invalid };
    const definitions = getOperationAST(document)?.variableDefinitions ?? [];
    const { coerced = {} } = getVariableValues(graph.schema, definitions, {});
    const compiled = executor.compile(document);
    const { data, errors, incomplete } = await compiled.run({ variables: coerced, context: undefined });
    return { data, errors: [...errors, ...incomplete] };
  };
}

/** Validates a query against the service's schema before it runs it. */
function respond(schema: GraphQLSchema, query: string, variableValues: Record<string, unknown>) {
  const document = parse(query);
  const errors = validate(schema, document);
  return errors.length > 0 ? { errors } : execute({ schema, document, variableValues });
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
