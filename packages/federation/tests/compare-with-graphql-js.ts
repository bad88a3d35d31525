import { execute, getVariableValues, Kind, parse, validate, type ExecutionResult } from 'graphql';
import { readable, type Call, type World } from './world.ts';

/** The results of an operation by the executor and by graphql-js on one schema. */
export interface BothWays {
  ours: Outcome;
  theirs: Outcome;
  calls: Call[];
  /** The root fields that a query read, without duplicates: only graphql-js reads a field twice for two aliases. */
  reads: { ours: string[]; theirs: string[] };
  errors: ExecutionResult['errors'];
}

interface Outcome {
  data: string;
  nulls: string[];
  changes: string[];
}

/** @throws Error when the operation is not valid */
export async function runBothWays(
  world: World,
  source: string,
  variables: Record<string, unknown> = {},
): Promise<BothWays> {
  const { changes, reads, graph, merged, executor } = world;
  const document = parse(source);
  const invalid = validate(graph.schema, document);
  if (invalid.length > 0) throw new Error(`${String(invalid[0])} in ${source}`);
  const operation = document.definitions.find((each) => each.kind === Kind.OPERATION_DEFINITION);
  const { coerced = {} } = getVariableValues(graph.schema, operation?.variableDefinitions ?? [], variables);

  changes.merged.length = 0;
  reads.merged.length = 0;
  const expected = readable(await execute({ schema: merged, document, variableValues: variables }));
  changes.services.length = 0;
  reads.services.length = 0;
  const calls: Call[] = [];
  const compiled = executor.compile(document);
  const { data, errors, incomplete } = await compiled.run({ variables: coerced, context: calls });
  const ourChanges = [...changes.services];
  const read = { ours: once(reads.services), theirs: once(reads.merged) };
  const failures = [...errors, ...incomplete] as unknown as ExecutionResult['errors'];
  const { nulls } = readable({ data, errors: failures ?? [] });
  return {
    ours: { data: JSON.stringify(data), nulls, changes: ourChanges },
    theirs: { ...expected, changes: [...changes.merged] },
    reads: read,
    calls,
    errors: failures,
  };
}

const once = (reads: readonly string[]) => [...new Set(reads)].toSorted();
