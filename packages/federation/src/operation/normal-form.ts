import {
  getNamedType,
  isAbstractType,
  isCompositeType,
  isInterfaceType,
  isObjectType,
  Kind,
  visit,
  type DocumentNode,
  type FieldNode,
  type GraphQLCompositeType,
  type GraphQLNamedType,
  type GraphQLObjectType,
  type SelectionNode,
  type SelectionSetNode,
  type VariableDefinitionNode,
} from 'graphql';
import { isIncluded, type ClientOperation } from './client-operation.ts';
import { fieldNode, servicesDirectives, type FieldVariants } from './field-variants.ts';

/** The planner uses this name for its own variable. */
const REPRESENTATIONS = 'representations';

export interface NormalOperation {
  document: DocumentNode;
  /** The variables that were renamed, with the client's names. */
  renamed: ReadonlyMap<string, string>;
}

type Types = readonly GraphQLObjectType[];

/** A selected field that applies to objects of the `possible` types, inside a fragment on `condition`. */
interface Found {
  node: FieldNode;
  possible: Types;
  condition: GraphQLCompositeType;
  /** Whether the enclosing type alone does not guarantee that an object has one of the `possible` types. */
  isConditional: boolean;
}

interface Search {
  found: Found[];
  /** The selection sets already searched, by the types searched for, with `isConditional`. */
  searched: Map<SelectionSetNode, Map<Types, boolean>>;
}

/** The fields of one type condition, by variant. */
type Merged = Map<string, FieldNode[]>;

/**
 * Rewrites an operation into the form that planners handle best: without clients' aliases, `@skip`, `@include`, named or
 * nested fragments, and with each field only once. Undefined when no service is needed. `only` selects the root fields to
 * include.
 */
export function normalise(
  operation: ClientOperation,
  variables: Record<string, unknown>,
  variants: FieldVariants,
  only: readonly FieldNode[],
): NormalOperation | undefined {
  const { definition, rootType } = operation;
  const fields = only.filter((node) => !node.name.value.startsWith('__'));
  if (fields.length === 0) return undefined;
  const set = createNormaliser(operation, variables, variants).rootSelection(rootType, fields);
  return withVariables({ ...definition, directives: servicesDirectives(definition.directives), selectionSet: set });
}

function createNormaliser(
  { schema, fragments }: ClientOperation,
  variables: Record<string, unknown>,
  variants: FieldVariants,
) {
  const ofObjects = new Map<GraphQLObjectType, Types>();
  /** Returns the same array for a type every time. `narrow` does the same, because arrays serve as map keys. */
  const possibleTypes = (type: GraphQLCompositeType): Types => {
    if (!isObjectType(type)) return schema.getPossibleTypes(type);
    const known = ofObjects.get(type) ?? [type];
    ofObjects.set(type, known);
    return known;
  };

  const narrowed = new Map<Types, Map<GraphQLCompositeType, Types>>();
  /** The possible types that are also of `type`. */
  const narrow = (possible: Types, type: GraphQLCompositeType): Types => {
    const byType = narrowed.get(possible) ?? new Map<GraphQLCompositeType, Types>();
    narrowed.set(possible, byType);
    const known = byType.get(type);
    if (known) return known;
    const allowed = new Set(possibleTypes(type));
    const left = possible.filter((each) => allowed.has(each));
    byType.set(type, left);
    return left;
  };

  /** Searches a set only once for the same types. Otherwise, fragments that spread each other would multiply the results. */
  const find = (
    set: SelectionSetNode,
    condition: GraphQLCompositeType,
    possible: Types,
    into: Search,
    isConditional = false,
  ) => {
    const before = into.searched.get(set) ?? new Map<Types, boolean>();
    const was = before.get(possible);
    if (was === true || was === isConditional) return;
    into.searched.set(set, before.set(possible, isConditional));
    for (const selection of set.selections) {
      if (!isIncluded(selection, variables)) continue;
      if (selection.kind === Kind.FIELD) {
        into.found.push({ node: selection, condition, possible, isConditional });
        continue;
      }
      const fragment = selection.kind === Kind.INLINE_FRAGMENT ? selection : fragments[selection.name.value];
      if (!fragment) continue;
      const named = fragment.typeCondition && schema.getType(fragment.typeCondition.name.value);
      const type = isCompositeType(named) ? named : condition;
      const left = type === condition ? possible : narrow(possible, type);
      if (left.length > 0) find(fragment.selectionSet, type, left, into, isConditional || !implies(condition, type));
    }
  };

  const implies = (type: GraphQLNamedType | undefined, other: GraphQLNamedType | undefined) =>
    type === other ||
    (isAbstractType(other) && (isObjectType(type) || isInterfaceType(type)) && schema.isSubType(other, type));

  /** The types on which the normal form selects the field: as few, and as general, as possible. */
  const homesOf = (type: GraphQLCompositeType, { node, possible, condition }: Found): GraphQLCompositeType[] => {
    const all = possibleTypes(type);
    // An interface's field may have a wider type, on which the selection is not valid.
    if (possible.length === all.length && implies(typeOf(type, node), typeOf(condition, node))) return [type];
    const isExact = narrow(all, condition).length === possible.length;
    return isExact && typeOf(condition, node) ? [condition] : [...possible];
  };

  const selectionOn = (type: GraphQLCompositeType, sets: readonly SelectionSetNode[]): SelectionSetNode => {
    const search: Search = { found: [], searched: new Map() };
    for (const set of sets) find(set, type, possibleTypes(type), search);
    const { found } = search;
    const homes = new Map<GraphQLCompositeType, Merged>();
    let isTypeAsked = false;
    for (const each of found) {
      if (each.node.name.value === '__typename') {
        isTypeAsked = true;
        continue;
      }
      for (const home of homesOf(type, each)) add(homes, home, each.node);
    }
    const own = fieldsOn(type, homes.get(type) ?? new Map<string, FieldNode[]>());
    homes.delete(type);
    const conditional = [...homes].map(([home, merged]) => fragmentOn(home, fieldsOn(home, merged)));
    // Abstract types need `__typename`, but only if the client asks for it or something depends on it.
    const isConditional = found.some((each) => each.isConditional);
    const needsType = isAbstractType(type) && (isTypeAsked || isConditional || conditional.length > 0);
    const isEmpty = own.length === 0 && conditional.length === 0;
    const selections = [...(needsType || isEmpty ? [fieldNode('__typename')] : []), ...own, ...conditional];
    return { kind: Kind.SELECTION_SET, selections };
  };

  const add = (homes: Map<GraphQLCompositeType, Merged>, home: GraphQLCompositeType, node: FieldNode) => {
    const merged = homes.get(home) ?? new Map<string, FieldNode[]>();
    homes.set(home, merged);
    const key = variants.keyOf(node);
    const nodes = merged.get(key);
    if (nodes) nodes.push(node);
    else merged.set(key, [node]);
  };

  const fieldsOn = (type: GraphQLCompositeType, merged: Merged): FieldNode[] =>
    [...merged].flatMap(([key, nodes]) => {
      const [first] = nodes;
      if (!first || !('getFields' in type)) return [];
      const name = first.name.value;
      const inner = typeOf(type, first);
      const sets = nodes.flatMap(({ selectionSet }) => selectionSet ?? []);
      return {
        ...fieldNode(name, key),
        arguments: first.arguments ?? [],
        directives: servicesDirectives(first.directives),
        ...(isCompositeType(inner) && { selectionSet: selectionOn(inner, sets) }),
      };
    });

  return {
    rootSelection(rootType: GraphQLObjectType, fields: readonly FieldNode[]): SelectionSetNode {
      const homes = new Map<GraphQLCompositeType, Merged>();
      for (const node of fields) add(homes, rootType, node);
      return {
        kind: Kind.SELECTION_SET,
        selections: fieldsOn(rootType, homes.get(rootType) ?? new Map<string, FieldNode[]>()),
      };
    },
  };
}

function typeOf(type: GraphQLCompositeType, { name }: FieldNode): GraphQLNamedType | undefined {
  return 'getFields' in type ? getNamedType(type.getFields()[name.value]?.type) : undefined;
}

export function fragmentOn(type: GraphQLCompositeType, selections: readonly SelectionNode[]): SelectionNode {
  return {
    kind: Kind.INLINE_FRAGMENT,
    typeCondition: { kind: Kind.NAMED_TYPE, name: { kind: Kind.NAME, value: type.name } },
    selectionSet: { kind: Kind.SELECTION_SET, selections },
  };
}

/** Drops unused variables, and renames a variable that conflicts with the planner's. */
function withVariables(definition: ClientOperation['definition']): NormalOperation {
  const used = new Set<string>();
  visit({ ...definition, variableDefinitions: [] }, { Variable: ({ name }) => void used.add(name.value) });
  const declared = (definition.variableDefinitions ?? []).filter(({ variable }) => used.has(variable.name.value));
  const renamed = new Map<string, string>();
  let operation = { ...definition, variableDefinitions: declared as readonly VariableDefinitionNode[] };
  if (used.has(REPRESENTATIONS)) {
    let free = `${REPRESENTATIONS}_`;
    while (used.has(free)) free += '_';
    renamed.set(free, REPRESENTATIONS);
    operation = visit(operation, {
      Variable: (node) =>
        node.name.value === REPRESENTATIONS ? { ...node, name: { kind: Kind.NAME, value: free } } : undefined,
    });
  }
  return { document: { kind: Kind.DOCUMENT, definitions: [operation] }, renamed };
}
