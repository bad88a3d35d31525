import { execute, getVariableValues, Kind, parse, validate, type GraphQLError } from 'graphql';
import { readable, type Call, type World } from './world.ts';

/**
 * Runs an operation, and expects the same data, nulls and changes as graphql-js has on one schema.
 * @throws Error when the operation is not valid
 */
export async function runLikeGraphqlJs(world: World, source: string, variables: Record<string, unknown> = {}) {
  const { changes, reads, graph, merged, executor } = world;
  const document = parse(source);
  const invalid = validate(graph.schema, document);
  if (invalid.length > 0) throw new Error(`${String(invalid[0])} in ${source}`);
  const operation = document.definitions.find((each) => each.kind === Kind.OPERATION_DEFINITION);
  const { coerced = {} } = getVariableValues(graph.schema, operation?.variableDefinitions ?? [], variables);
  for (const list of [changes.merged, reads.merged, changes.services, reads.services]) list.length = 0;
  const expected = readable(await execute({ schema: merged, document, variableValues: variables }));
  const calls: Call[] = [];
  const { data, errors, incomplete } = await executor.compile(document).run({ variables: coerced, context: calls });
  const failures = [...errors, ...incomplete] as unknown as GraphQLError[];
  const actual = readable({ data, errors: failures });
  expect({ source, variables, changes: changes.services, ...actual }).toEqual({
    ...{ source, variables, changes: changes.merged, ...expected },
  });
  return { ...actual, changes: changes.services, calls, errors: failures };
}
