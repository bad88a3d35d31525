import { composeServices } from '@apollo/composition';
import { createFederatedExecutor, readSupergraph, type AskSubgraph, type SubgraphAnswer } from '@taskmesh/federation';
import {
  execute,
  getOperationAST,
  getVariableValues,
  parse,
  validate,
  type DocumentNode,
  type GraphQLSchema,
} from 'graphql';
import { isDeepStrictEqual } from 'node:util';
import type { CaseResult } from '../public-suite.ts';
import { loadGroups } from './load-groups.ts';
import type { Case, CaseGroup } from './supergraph.ts';

/** The public audit of federation gateways: each case through the compiled executor, its services asked in this process. */
export async function runFederationAudit(dir: string): Promise<CaseResult[]> {
  const results: CaseResult[] = [];
  for (const group of await loadGroups(dir)) {
    const run = runnerOf(group);
    for (const [index, each] of group.cases.entries())
      results.push({ name: `${group.id} #${String(index)}`, problem: await problemOf(each, run) });
  }
  return results;
}

interface Outcome {
  data: unknown;
  errors: readonly unknown[];
}

async function problemOf({ query, expected }: Case, run: (query: string) => Promise<Outcome>) {
  const { data, errors } = await run(query).catch((error: unknown): Outcome => ({ data: null, errors: [error] }));
  const isRight =
    isDeepStrictEqual(data, expected.data ?? null) &&
    (expected.errors === undefined || expected.errors === errors.length > 0);
  if (isRight) return undefined;
  return `${JSON.stringify(data)}${errors.map((error) => `\n    ${describe(error)}`).join('')}`;
}

function describe(error: unknown): string {
  return Error.isError(error) ? error.message : JSON.stringify(error);
}

function runnerOf({ subgraphs }: CaseGroup): (query: string) => Promise<Outcome> {
  const { supergraphSdl, errors: problems } = composeServices(
    subgraphs.map(({ name, typeDefs }) => ({ name, url: `http://${name}`, typeDefs: parse(typeDefs) })),
  );
  if (supergraphSdl === undefined) throw new Error(String(problems));
  const graph = readSupergraph(supergraphSdl);
  const executor = createFederatedExecutor(
    graph,
    askInProcess(new Map(subgraphs.map((each) => [each.name, each.schema]))),
  );
  return async (query) => {
    const document = parse(query);
    const invalid = validate(graph.schema, document);
    if (invalid.length > 0) return { data: null, errors: invalid };
    const { coerced = {} } = getVariableValues(graph.schema, getOperationAST(document)?.variableDefinitions ?? [], {});
    const { text, errors, incomplete } = await executor
      .compile(document)
      .run({ variables: coerced, context: undefined });
    return { data: JSON.parse(text) as unknown, errors: [...errors, ...incomplete] };
  };
}

/** As behind a network: a service refuses what it has not, and answers in JSON. */
function askInProcess(schemas: ReadonlyMap<string, GraphQLSchema>): AskSubgraph<undefined> {
  const answer = async (schema: GraphQLSchema, document: DocumentNode, variables: string) => {
    const errors = validate(schema, document);
    if (errors.length > 0) return { errors };
    return execute({ schema, document, variableValues: JSON.parse(variables) as Record<string, unknown> });
  };
  return async ({ operation, variables }) => {
    const schema = schemas.get(operation.service);
    if (!schema) throw new Error(`There is no service ${operation.service}.`);
    const result = await answer(schema, parse(operation.text), variables);
    return JSON.parse(JSON.stringify(result)) as SubgraphAnswer;
  };
}
