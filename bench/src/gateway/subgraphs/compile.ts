import {
  Kind,
  parse,
  valueFromASTUntyped,
  type FieldNode,
  type FragmentDefinitionNode,
  type SelectionNode,
  type SelectionSetNode,
} from 'graphql';
import type { Representation, Resolvers } from './resolvers.ts';

export type Variables = Readonly<Record<string, unknown>>;

/** Answers a document that was read once: the JSON of the data. */
export type Answer = (variables: Variables) => string;

type Write = (value: unknown, variables: Variables) => string;
type Fragments = ReadonlyMap<string, FragmentDefinitionNode>;

/** A document as one function that writes text: services cost as little as they may. No directives, no unions. */
export function compileDocument(source: string, { query, entity }: Resolvers): Answer {
  const { definitions } = parse(source, { noLocation: true });
  const fragments: Fragments = new Map(
    definitions.filter((each) => each.kind === Kind.FRAGMENT_DEFINITION).map((each) => [each.name.value, each]),
  );
  const operation = definitions.find((each) => each.kind === Kind.OPERATION_DEFINITION);
  if (!operation) throw new Error('There is no operation in the document.');
  const fields = [...fieldsOf(operation.selectionSet, 'Query', fragments)].map(([key, nodes], index) => {
    const name = nodes[0]?.name.value ?? '';
    const resolve =
      name === '_entities'
        ? ({ representations }: Variables) =>
            (representations as Representation[]).map((each) => entity[each.__typename]?.(each)) // as the schema has it
        : name === '__typename'
          ? () => 'Query'
          : query[name];
    if (!resolve) throw new Error(`There is no field ${name}.`);
    const label = `${index > 0 ? ',' : '{'}"${key}":`;
    return { label, resolve, readArguments: argumentsReader(nodes), write: valueWriter(nodes, fragments) };
  });
  return (variables) => {
    let text = '';
    for (const { label, resolve, readArguments, write } of fields)
      text += label + write(resolve(readArguments(variables)), variables);
    return `${text}}`;
  };
}

function argumentsReader(nodes: readonly FieldNode[]): (variables: Variables) => Variables {
  const args = nodes[0]?.arguments ?? [];
  return (variables) =>
    Object.fromEntries(args.map(({ name, value }) => [name.value, valueFromASTUntyped(value, { ...variables })]));
}

function valueWriter(nodes: readonly FieldNode[], fragments: Fragments): Write {
  const sets = nodes.flatMap(({ selectionSet }) => selectionSet ?? []);
  if (sets.length === 0) return (value) => JSON.stringify(value ?? null);
  const selections = sets.flatMap((set) => set.selections);
  const writeObject = objectWriter({ kind: Kind.SELECTION_SET, selections }, fragments);
  const write: Write = (value, variables) => {
    if (value === null || value === undefined) return 'null';
    return Array.isArray(value)
      ? `[${value.map((item) => write(item, variables)).join(',')}]`
      : writeObject(value, variables);
  };
  return write;
}

function objectWriter(set: SelectionSetNode, fragments: Fragments): Write {
  const byType = new Map<string, { label: string; name: string; write: Write }[]>();
  const compileFor = (typeName: string) =>
    [...fieldsOf(set, typeName, fragments)].map(([key, nodes], index) => ({
      label: `${index > 0 ? ',' : ''}"${key}":`,
      name: nodes[0]?.name.value ?? '',
      write: valueWriter(nodes, fragments),
    }));
  return (value, variables) => {
    const object = value as Representation; // all objects here tell their type
    let fields = byType.get(object.__typename);
    if (!fields) byType.set(object.__typename, (fields = compileFor(object.__typename)));
    let text = '{';
    for (const { label, name, write } of fields) text += label + write(object[name], variables);
    return `${text}}`;
  };
}

/** The fields that a selection has for a type, by their keys. */
function fieldsOf(set: SelectionSetNode, typeName: string, fragments: Fragments): Map<string, FieldNode[]> {
  const fields = new Map<string, FieldNode[]>();
  const collect = (selection: SelectionNode) => {
    if (selection.directives?.length) throw new Error('Directives are none of a benchmark’s services.');
    if (selection.kind === Kind.FIELD) {
      const key = (selection.alias ?? selection.name).value;
      const known = fields.get(key);
      if (known) known.push(selection);
      else fields.set(key, [selection]);
      return;
    }
    const fragment = selection.kind === Kind.FRAGMENT_SPREAD ? fragments.get(selection.name.value) : selection;
    const condition = fragment?.typeCondition?.name.value ?? typeName;
    if (condition === typeName) fragment?.selectionSet.selections.forEach(collect);
  };
  set.selections.forEach(collect);
  return fields;
}
