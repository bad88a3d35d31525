import { buildSchema, isObjectType, parse, visit } from 'graphql';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { READ_TASKS, TASK_CHANGES } from '../src/operations.generated.ts';

const SUPERGRAPH = join(import.meta.dirname, '../../../services/gateway/supergraph.graphql');

/** The names of a type's fields in the graph. */
function fieldsOf(name: string): string[] {
  const type = buildSchema(readFileSync(SUPERGRAPH, 'utf8'), { assumeValidSDL: true }).getType(name);
  return isObjectType(type) ? Object.keys(type.getFields()) : [];
}

/** The names of the fields that a fragment selects. */
function selectedBy(fragment: string, document: string): string[] {
  const names: string[] = [];
  visit(parse(document), {
    FragmentDefinition: ({ name }) => (name.value === fragment ? undefined : false),
    OperationDefinition: () => false,
    Field: ({ name }) => void names.push(name.value),
  });
  return names;
}

it.each([READ_TASKS, TASK_CHANGES])('lists and changes select every field of a task except its owner', (document) =>
  expect(selectedBy('TaskFields', document).toSorted()).toEqual(
    fieldsOf('Task')
      .filter((name) => name !== 'owner')
      .toSorted(),
  ),
);
