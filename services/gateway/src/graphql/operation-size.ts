import {
  getNamedType,
  getNullableType,
  isCompositeType,
  isInterfaceType,
  isIntrospectionType,
  isListType,
  isObjectType,
  Kind,
  type ArgumentNode,
  type ASTNode,
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLCompositeType,
  type GraphQLField,
  type GraphQLSchema,
  type SelectionSetNode,
} from 'graphql';

/** Fields refuse larger pages themselves, so they need no higher cost here. */
const MAX_PAGE = 1_000;

/** Lists of the schema count as three items: some are much longer, and cost the less for each. */
const INTROSPECTION_PAGE = 3;
const INTROSPECTIONS = new Map([
  ['__schema', '__Schema'],
  ['__type', '__Type'],
]);

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
  /** All fields, once for each time they are spread; fields without a selection once in each set. */
  fields: number;
  /** The length of their arguments, counted in the same way. */
  characters: number;
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
  characters: number;
  /** A number unless it depends on variables. */
  cost: number | Cost;
}

const NOTHING: Part = {
  depth: 0,
  introspectionDepth: 0,
  aliases: 0,
  authMutations: 0,
  fields: 0,
  characters: 0,
  cost: 0,
};

/** The sizes of a document's operations, by name. */
export function sizesOf(schema: GraphQLSchema, document: DocumentNode): Map<string | undefined, OperationSize> {
  const walk = createWalker(schema, document);
  const operations = document.definitions.filter((node) => node.kind === Kind.OPERATION_DEFINITION);
  return new Map(
    operations.map(({ name, operation, selectionSet }) => {
      const { cost, ...size } = walk(selectionSet, schema.getRootType(operation) ?? undefined);
      return [name?.value, { ...size, cost: (variables) => valueOf(cost, variables, new Map()) }];
    }),
  );
}

function createWalker(schema: GraphQLSchema, document: DocumentNode) {
  const fragments = new Map<string, FragmentDefinitionNode>();
  for (const node of document.definitions)
    if (node.kind === Kind.FRAGMENT_DEFINITION) fragments.set(node.name.value, node);
  const walked = new Map<string, Part>();

  const ofSelections = ({ selections }: SelectionSetNode, type: GraphQLCompositeType | undefined): Part => {
    const leaves = new Set<string>();
    const parts = selections.map((selection): Part => {
      if (selection.kind === Kind.FIELD) {
        const part = ofField(selection, type);
        if (selection.selectionSet) return part;
        const { value: key } = selection.alias ?? selection.name;
        if (leaves.has(key)) return { ...part, fields: 0 };
        leaves.add(key);
        return part;
      }
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
    const own = {
      depth: 1,
      aliases: node.alias ? 1 : 0,
      authMutations: parent === schema.getMutationType() && AUTH_MUTATIONS.has(name) ? 1 : 0,
      fields: 1,
      characters: lengthOf(node.arguments) + lengthOf(node.directives),
    };
    if (!node.selectionSet) return { ...NOTHING, ...own, cost: node.alias || isOfSchema(parent) ? 1 : 0 };
    const introspection = INTROSPECTIONS.get(name);
    const field = fieldOf(parent, name);
    const type = introspection === undefined ? field && getNamedType(field.type) : schema.getType(introspection);
    const below = ofSelections(node.selectionSet, isCompositeType(type) ? type : undefined);
    const depth = below.depth + 1;
    return {
      ...(introspection === undefined
        ? { depth, introspectionDepth: below.introspectionDepth }
        : { depth: 0, introspectionDepth: depth }),
      aliases: own.aliases + below.aliases,
      authMutations: own.authMutations + below.authMutations,
      fields: own.fields + below.fields,
      characters: own.characters + below.characters,
      cost: costOf(pageOf(node, field), below.cost, field !== undefined && isListType(getNullableType(field.type))),
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
    characters: sum(parts, ({ characters }) => characters),
    cost: costs.length === 0 ? constant : (variables, known) => constant + sum(costs, (cost) => cost(variables, known)),
  };
}

function sum<Item>(items: readonly Item[], numberOf: (item: Item) => number): number {
  return items.reduce((total, item) => total + numberOf(item), 0);
}

/** A list is as many objects as its page; any other field is one, which has the page below it. */
function costOf(page: number | Cost, below: number | Cost, isList: boolean): number | Cost {
  const own = isList ? 0 : 1;
  const each = isList ? 1 : 0;
  if (typeof page === 'number' && typeof below === 'number') return own + page * (each + below);
  return (variables, known) => own + valueOf(page, variables, known) * (each + valueOf(below, variables, known));
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

function lengthOf(nodes: readonly ASTNode[] = []): number {
  return sum(nodes, ({ loc }) => (loc ? loc.end - loc.start : 0));
}

/** The most items that may come back: `first`, or else the field's default. */
function pageOf(node: FieldNode, field: GraphQLField<unknown, unknown> | undefined): number | Cost {
  const definition = field?.args.find(({ name }) => name === 'first');
  if (!definition) return field && isSchemaList(field) ? INTROSPECTION_PAGE : 1;
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

function isOfSchema(type: GraphQLCompositeType | undefined): boolean {
  return type !== undefined && isIntrospectionType(type);
}

function isSchemaList({ type }: GraphQLField<unknown, unknown>): boolean {
  return isListType(getNullableType(type)) && isIntrospectionType(getNamedType(type));
}

function fieldOf(parent: GraphQLCompositeType | undefined, name: string) {
  return isObjectType(parent) || isInterfaceType(parent) ? parent.getFields()[name] : undefined;
}

function compositeType(schema: GraphQLSchema, name: string): GraphQLCompositeType | undefined {
  const type = schema.getType(name);
  return isCompositeType(type) ? type : undefined;
}
