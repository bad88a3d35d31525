import {
  isEnumType,
  isObjectType,
  isScalarType,
  getNamedType,
  type FragmentDefinitionNode,
  type GraphQLObjectType,
  type GraphQLSchema,
  type SelectionSetNode,
} from 'graphql';
import type { PreparedOperation, Resized } from '../supergraph/operation.ts';
import { IN_THE_EVENT } from './subscription-plan.ts';

/** Writes the selected part of an object as JSON. */
type Write = (source: Record<string, unknown>) => string;

/**
 * Compiles a subscription whose whole selection is in the event: the returned function writes `{"data": …}` from the
 * root field's value, without an executor. Undefined when a field has to be fetched, or when @include or @skip has to
 * be decided per request.
 */
export function compileProjection(
  schema: GraphQLSchema,
  { document, operation }: PreparedOperation,
  resized: Resized = () => undefined,
): Write | undefined {
  const root = schema.getSubscriptionType();
  const fragments = new Map<string, FragmentDefinitionNode>();
  for (const definition of document.definitions)
    if (definition.kind === 'FragmentDefinition') fragments.set(definition.name.value, definition);
  const [field, ...others] = operation.selectionSet.selections;
  if (!root || field?.kind !== 'Field' || others.length > 0 || field.directives?.length || !field.selectionSet)
    return undefined;
  const type = getNamedType(root.getFields()[field.name.value]?.type);
  if (!isObjectType(type)) return undefined;
  const write = compileObject(type, [field.selectionSet], { fragments, resized });
  if (!write) return undefined;
  const open = `{"data":{${JSON.stringify(field.alias?.value ?? field.name.value)}:`;
  return (source) => `${open}${write(source)}}}`;
}

/** For the writer of a field, and its place in an object. */
const FIELD_BYTES = 400;

interface Compiling {
  fragments: Map<string, FragmentDefinitionNode>;
  resized: Resized;
}

interface Selected {
  name: string;
  selections: SelectionSetNode[];
}

function compileObject(
  type: GraphQLObjectType,
  selections: SelectionSetNode[],
  compiling: Compiling,
): Write | undefined {
  const fields = new Map<string, Selected>();
  for (const selection of selections) if (!collect(type, selection, compiling.fragments, fields)) return undefined;
  compiling.resized(FIELD_BYTES * (fields.size + 1));
  const writers: { label: string; write: Write }[] = [];
  for (const [key, { name, selections: inner }] of fields) {
    const write = compileField(type, name, inner, compiling);
    if (!write) return undefined;
    writers.push({ label: `${writers.length > 0 ? ',' : ''}${JSON.stringify(key)}:`, write });
  }
  return (source) => {
    let text = '{';
    for (const { label, write } of writers) text += label + write(source);
    return `${text}}`;
  };
}

/** Merges fields with the same response key. False when something here is left to the executor. */
function collect(
  type: GraphQLObjectType,
  { selections }: SelectionSetNode,
  fragments: Map<string, FragmentDefinitionNode>,
  into: Map<string, Selected>,
): boolean {
  return selections.every((selection) => {
    if (selection.directives?.length) return false;
    if (selection.kind === 'Field') {
      if (selection.arguments?.length || !IN_THE_EVENT[type.name]?.has(selection.name.value)) return false;
      const key = selection.alias?.value ?? selection.name.value;
      const known = into.get(key) ?? { name: selection.name.value, selections: [] };
      if (selection.selectionSet) known.selections.push(selection.selectionSet);
      into.set(key, known);
      return true;
    }
    const fragment = selection.kind === 'FragmentSpread' ? fragments.get(selection.name.value) : selection;
    if (!fragment || fragment.directives?.length) return false;
    // All types of an event are objects; conditions on any other type are left to the executor.
    return (
      (fragment.typeCondition?.name.value ?? type.name) === type.name &&
      collect(type, fragment.selectionSet, fragments, into)
    );
  });
}

const written = new WeakMap<Record<string, unknown>, Map<string, string>>();

/** A value may be selected under many aliases and by many subscriptions, and escaping a long text takes time. */
function jsonOf(source: Record<string, unknown>, name: string): string {
  const known = written.get(source) ?? new Map<string, string>();
  written.set(source, known);
  const text = known.get(name) ?? JSON.stringify(source[name] ?? null);
  known.set(name, text);
  return text;
}

function compileField(
  type: GraphQLObjectType,
  name: string,
  selections: SelectionSetNode[],
  compiling: Compiling,
): Write | undefined {
  if (name === '__typename') return () => JSON.stringify(type.name);
  const fieldType = getNamedType(type.getFields()[name]?.type);
  if (isScalarType(fieldType) || isEnumType(fieldType)) return (source) => jsonOf(source, name);
  if (!isObjectType(fieldType)) return undefined;
  const write = compileObject(fieldType, selections, compiling);
  return write && ((source) => (source[name] ? write(source[name] as Record<string, unknown>) : 'null')); // of an object type
}
