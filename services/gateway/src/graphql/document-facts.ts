import {
  getNamedType,
  isCompositeType,
  isInterfaceType,
  isObjectType,
  Kind,
  type ArgumentNode,
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLCompositeType,
  type GraphQLField,
  type GraphQLSchema,
  type OperationDefinitionNode,
  type SelectionSetNode,
} from 'graphql';

/** More than this is refused by the field itself; it must not look cheaper or dearer here. */
const MAX_PAGE = 1_000;

/** The mutations that prove or replace a password: trying many in one request would get around their limits. */
const AUTH_MUTATIONS = new Set(['signUp', 'login', 'refreshSession', 'resetPassword', 'requestPasswordReset']);

/** What an operation asks for, counted in one walk, with fragments counted wherever they are spread. */
export interface DocumentFacts {
  /** Levels of fields; below `__schema` and `__type` apart. */
  depth: number;
  introspectionDepth: number;
  aliases: number;
  authMutations: number;
  /** How many objects may have to be made: pages count by their `first`. */
  cost(variables: Readonly<Record<string, unknown>>): number;
}

type Variables = Readonly<Record<string, unknown>>;
type Cost = (variables: Variables) => number;

interface Part {
  depth: number;
  introspectionDepth: number;
  aliases: number;
  authMutations: number;
  /** A number wherever no variable decides. */
  cost: number | Cost;
}

const NOTHING: Part = { depth: 0, introspectionDepth: 0, aliases: 0, authMutations: 0, cost: 0 };

export function factsOf(
  schema: GraphQLSchema,
  document: DocumentNode,
  operation: OperationDefinitionNode,
): DocumentFacts {
  const root = schema.getRootType(operation.operation) ?? undefined;
  const { cost, ...facts } = createWalker(schema, document, operation)(operation.selectionSet, root);
  return { ...facts, cost: typeof cost === 'number' ? () => cost : cost };
}

function createWalker(schema: GraphQLSchema, document: DocumentNode, operation: OperationDefinitionNode) {
  const fragments = new Map<string, FragmentDefinitionNode>();
  for (const node of document.definitions)
    if (node.kind === Kind.FRAGMENT_DEFINITION) fragments.set(node.name.value, node);
  const walked = new Map<string, Part>();
  const defaults = defaultsOf(operation);

  const ofSelections = ({ selections }: SelectionSetNode, type: GraphQLCompositeType | undefined): Part => {
    const parts = selections.map((selection): Part => {
      if (selection.kind === Kind.FIELD) return ofField(selection, type);
      if (selection.kind === Kind.FRAGMENT_SPREAD) return ofFragment(selection.name.value);
      const condition = selection.typeCondition?.name.value;
      return ofSelections(selection.selectionSet, condition === undefined ? type : compositeType(schema, condition));
    });
    return parts.reduce(together, NOTHING);
  };

  /** Each fragment is walked once; one that spreads itself is refused elsewhere and counts as nothing here. */
  const ofFragment = (name: string): Part => {
    const known = walked.get(name);
    if (known) return known;
    walked.set(name, NOTHING);
    const fragment = fragments.get(name);
    const part = fragment
      ? ofSelections(fragment.selectionSet, compositeType(schema, fragment.typeCondition.name.value))
      : NOTHING;
    walked.set(name, part);
    return part;
  };

  const ofField = (node: FieldNode, parent: GraphQLCompositeType | undefined): Part => {
    const name = node.name.value;
    const aliases = node.alias ? 1 : 0;
    const authMutations = parent === schema.getMutationType() && AUTH_MUTATIONS.has(name) ? 1 : 0;
    if (!node.selectionSet) return { ...NOTHING, depth: 1, aliases, authMutations };
    if (name === '__schema' || name === '__type') {
      const below = ofSelections(node.selectionSet, undefined);
      return { ...NOTHING, introspectionDepth: below.depth + 1, aliases: below.aliases + aliases };
    }
    const field = fieldOf(parent, name);
    const type = field && getNamedType(field.type);
    const below = ofSelections(node.selectionSet, type && isCompositeType(type) ? type : undefined);
    return {
      depth: below.depth + 1,
      introspectionDepth: below.introspectionDepth,
      aliases: below.aliases + aliases,
      authMutations: below.authMutations + authMutations,
      cost: plus(1, times(pageOf(node, field, defaults), below.cost)),
    };
  };

  return ofSelections;
}

function together(one: Part, other: Part): Part {
  return {
    depth: Math.max(one.depth, other.depth),
    introspectionDepth: Math.max(one.introspectionDepth, other.introspectionDepth),
    aliases: one.aliases + other.aliases,
    authMutations: one.authMutations + other.authMutations,
    cost: plus(one.cost, other.cost),
  };
}

function plus(one: number | Cost, other: number | Cost): number | Cost {
  if (typeof one === 'number' && typeof other === 'number') return one + other;
  return (variables) => valueOf(one, variables) + valueOf(other, variables);
}

function times(one: number | Cost, other: number | Cost): number | Cost {
  if (typeof one === 'number' && typeof other === 'number') return one * other;
  return (variables) => valueOf(one, variables) * valueOf(other, variables);
}

function valueOf(cost: number | Cost, variables: Variables): number {
  return typeof cost === 'number' ? cost : cost(variables);
}

/** How many of what is selected below may come back: `first`, as given, or as the field's default has it. */
function pageOf(
  node: FieldNode,
  field: GraphQLField<unknown, unknown> | undefined,
  defaults: Variables,
): number | Cost {
  const definition = field?.args.find(({ name }) => name === 'first');
  if (!definition) return 1;
  const usual = bounded(definition.defaultValue, MAX_PAGE);
  const value = node.arguments?.find((argument: ArgumentNode) => argument.name.value === 'first')?.value;
  if (!value) return usual;
  if (value.kind === Kind.INT) return bounded(Number(value.value), usual);
  if (value.kind !== Kind.VARIABLE) return usual;
  const name = value.name.value;
  return (variables) => bounded(Object.hasOwn(variables, name) ? variables[name] : defaults[name], usual);
}

function bounded(value: unknown, otherwise: number): number {
  return typeof value === 'number' ? Math.min(Math.max(value, 0), MAX_PAGE) : otherwise;
}

function defaultsOf({ variableDefinitions = [] }: OperationDefinitionNode): Variables {
  return Object.fromEntries(
    variableDefinitions.flatMap(({ variable, defaultValue }) =>
      defaultValue?.kind === Kind.INT ? [[variable.name.value, Number(defaultValue.value)]] : [],
    ),
  );
}

function fieldOf(parent: GraphQLCompositeType | undefined, name: string) {
  return isObjectType(parent) || isInterfaceType(parent) ? parent.getFields()[name] : undefined;
}

function compositeType(schema: GraphQLSchema, name: string): GraphQLCompositeType | undefined {
  const type = schema.getType(name);
  return isCompositeType(type) ? type : undefined;
}
