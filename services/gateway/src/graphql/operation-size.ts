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

/** Fields refuse larger pages themselves, so they need no higher cost here. */
const MAX_PAGE = 1_000;

/** Mutations that prove or replace a password, an address or a token: several at once would evade rate limits. */
const AUTH_MUTATIONS = new Set([
  ...['signUp', 'login', 'refreshSession', 'resetPassword', 'requestPasswordReset'],
  ...['changePassword', 'requestEmailChange', 'confirmEmailChange', 'deleteAccount', 'signInWithCode', 'linkIdentity'],
]);

/** The size of an operation, counted in one walk. Fragments count wherever they are spread. */
export interface OperationSize {
  /** Levels of fields, apart from those below `__schema` and `__type`. */
  depth: number;
  introspectionDepth: number;
  aliases: number;
  authMutations: number;
  /** All fields, once for each time they are spread. */
  fields: number;
  /** The most objects that the operation may produce; pages count by their `first`. `variables` are coerced. */
  cost(variables: Variables): number;
}

type Variables = Readonly<Record<string, unknown>>;
/** `known` holds the costs of fragments for these variables. */
type Cost = (variables: Variables, known: Map<Cost, number>) => number;

interface Part {
  depth: number;
  introspectionDepth: number;
  aliases: number;
  authMutations: number;
  fields: number;
  /** A number unless it depends on variables. */
  cost: number | Cost;
}

const NOTHING: Part = { depth: 0, introspectionDepth: 0, aliases: 0, authMutations: 0, fields: 0, cost: 0 };

export function sizeOf(
  schema: GraphQLSchema,
  document: DocumentNode,
  operation: OperationDefinitionNode,
): OperationSize {
  const root = schema.getRootType(operation.operation) ?? undefined;
  const { cost, ...size } = createWalker(schema, document)(operation.selectionSet, root);
  return { ...size, cost: (variables) => valueOf(cost, variables, new Map()) };
}

function createWalker(schema: GraphQLSchema, document: DocumentNode) {
  const fragments = new Map<string, FragmentDefinitionNode>();
  for (const node of document.definitions)
    if (node.kind === Kind.FRAGMENT_DEFINITION) fragments.set(node.name.value, node);
  const walked = new Map<string, Part>();

  const ofSelections = ({ selections }: SelectionSetNode, type: GraphQLCompositeType | undefined): Part => {
    const parts = selections.map((selection): Part => {
      if (selection.kind === Kind.FIELD) return ofField(selection, type);
      if (selection.kind === Kind.FRAGMENT_SPREAD) return ofFragment(selection.name.value);
      const condition = selection.typeCondition?.name.value;
      return ofSelections(selection.selectionSet, condition === undefined ? type : compositeType(schema, condition));
    });
    return together(parts);
  };

  /** Walks each fragment once. One that spreads itself is refused by validation, and counts as nothing here. */
  const ofFragment = (name: string): Part => {
    const known = walked.get(name);
    if (known) return known;
    walked.set(name, NOTHING);
    const fragment = fragments.get(name);
    const part = fragment
      ? ofSelections(fragment.selectionSet, compositeType(schema, fragment.typeCondition.name.value))
      : NOTHING;
    const whole = typeof part.cost === 'number' ? part : { ...part, cost: once(part.cost) };
    walked.set(name, whole);
    return whole;
  };

  const ofField = (node: FieldNode, parent: GraphQLCompositeType | undefined): Part => {
    const name = node.name.value;
    const aliases = node.alias ? 1 : 0;
    const authMutations = parent === schema.getMutationType() && AUTH_MUTATIONS.has(name) ? 1 : 0;
    if (!node.selectionSet) return { ...NOTHING, depth: 1, aliases, authMutations, fields: 1 };
    if (name === '__schema' || name === '__type') {
      const below = ofSelections(node.selectionSet, undefined);
      const fields = below.fields + 1;
      return { ...NOTHING, introspectionDepth: below.depth + 1, aliases: below.aliases + aliases, fields };
    }
    const field = fieldOf(parent, name);
    const type = field && getNamedType(field.type);
    const below = ofSelections(node.selectionSet, type && isCompositeType(type) ? type : undefined);
    return {
      depth: below.depth + 1,
      introspectionDepth: below.introspectionDepth,
      aliases: below.aliases + aliases,
      authMutations: below.authMutations + authMutations,
      fields: below.fields + 1,
      cost: onePlus(pageOf(node, field), below.cost),
    };
  };

  return ofSelections;
}

function together(parts: readonly Part[]): Part {
  const costs = parts.map(({ cost }) => cost).filter((cost) => typeof cost === 'function');
  const constant = sum(parts, ({ cost }) => (typeof cost === 'number' ? cost : 0));
  return {
    depth: parts.reduce((deepest, { depth }) => Math.max(deepest, depth), 0),
    introspectionDepth: parts.reduce((deepest, { introspectionDepth }) => Math.max(deepest, introspectionDepth), 0),
    aliases: sum(parts, ({ aliases }) => aliases),
    authMutations: sum(parts, ({ authMutations }) => authMutations),
    fields: sum(parts, ({ fields }) => fields),
    cost: costs.length === 0 ? constant : (variables, known) => constant + sum(costs, (cost) => cost(variables, known)),
  };
}

function sum<Item>(items: readonly Item[], numberOf: (item: Item) => number): number {
  return items.reduce((total, item) => total + numberOf(item), 0);
}

/** The object itself, plus what is below it for each item of its page. */
function onePlus(page: number | Cost, below: number | Cost): number | Cost {
  if (typeof page === 'number' && typeof below === 'number') return 1 + page * below;
  return (variables, known) => 1 + valueOf(page, variables, known) * valueOf(below, variables, known);
}

function valueOf(cost: number | Cost, variables: Variables, known: Map<Cost, number>): number {
  return typeof cost === 'number' ? cost : cost(variables, known);
}

/** Computes a fragment's cost once, as nested fragments, each spread twice, would take exponential time. */
function once(cost: Cost): Cost {
  return (variables, known) => {
    const value = known.get(cost) ?? cost(variables, known);
    known.set(cost, value);
    return value;
  };
}

/** The most items that may come back: `first`, or else the field's default. */
function pageOf(node: FieldNode, field: GraphQLField<unknown, unknown> | undefined): number | Cost {
  const definition = field?.args.find(({ name }) => name === 'first');
  if (!definition) return 1;
  const usual = limitPage(definition.defaultValue, MAX_PAGE);
  const value = node.arguments?.find((argument: ArgumentNode) => argument.name.value === 'first')?.value;
  if (!value) return usual;
  if (value.kind === Kind.INT) return limitPage(Number(value.value), usual);
  if (value.kind !== Kind.VARIABLE) return usual;
  const name = value.name.value;
  return (variables) => limitPage(variables[name], usual);
}

function limitPage(value: unknown, otherwise: number): number {
  return typeof value === 'number' ? Math.min(Math.max(value, 0), MAX_PAGE) : otherwise;
}

function fieldOf(parent: GraphQLCompositeType | undefined, name: string) {
  return isObjectType(parent) || isInterfaceType(parent) ? parent.getFields()[name] : undefined;
}

function compositeType(schema: GraphQLSchema, name: string): GraphQLCompositeType | undefined {
  const type = schema.getType(name);
  return isCompositeType(type) ? type : undefined;
}
