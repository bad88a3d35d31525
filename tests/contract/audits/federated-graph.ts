import { composeServices } from '@apollo/composition';
import { createFederatedExecutor, readSupergraph, type AskSubgraph, type SubgraphAnswer } from '@taskmesh/federation';
import { getOperationAST, getVariableValues, parse, validate, type DocumentNode } from 'graphql';

type Variables = Record<string, unknown>;

export interface Service {
  name: string;
  typeDefs: DocumentNode;
  respond: (query: string, variables: Variables) => Promise<object>;
}

export interface Outcome {
  data: unknown;
  errors: readonly unknown[];
}

/** Composes the services into one graph for the compiled executor, which calls them in this process. */
export function createGraph(services: readonly Service[]): (query: string, variables?: Variables) => Promise<Outcome> {
  const { supergraphSdl, errors: problems } = composeServices(
    services.map(({ name, typeDefs }) => ({ name, url: `http://${name}`, typeDefs })),
  );
  if (supergraphSdl === undefined) throw new Error(String(problems));
  const graph = readSupergraph(supergraphSdl);
  const executor = createFederatedExecutor(graph, callInProcess(new Map(services.map((each) => [each.name, each]))));
  return async (query, variables = {}) => {
    const document = parse(query);
    const invalid = validate(graph.schema, document);
    if (invalid.length > 0) return { data: null, errors: invalid };
    const definitions = getOperationAST(document)?.variableDefinitions ?? [];
    const { coerced = {} } = getVariableValues(graph.schema, definitions, variables);
    const { data, errors, incomplete } = await executor
      .compile(document)
      .run({ variables: coerced, context: undefined });
    return { data, errors: [...errors, ...incomplete] };
  };
}

/** Calls a service with its result in JSON, as over a network. */
function callInProcess(services: ReadonlyMap<string, Service>): AskSubgraph<undefined> {
  return async ({ operation, variables }) => {
    const service = services.get(operation.service);
    if (!service) throw new Error(`There is no service ${operation.service}.`);
    return JSON.parse(JSON.stringify(await service.respond(operation.text, variables))) as SubgraphAnswer;
  };
}
