import {
  getNamedType,
  getNullableType,
  GraphQLString,
  isCompositeType,
  isInterfaceType,
  isIntrospectionType,
  isListType,
  isObjectType,
  Kind,
  type ASTNode,
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLCompositeType,
  type GraphQLField,
  type GraphQLSchema,
  type OperationDefinitionNode,
  type SelectionSetNode,
} from 'graphql';

/** What a graph's own fields count as. */
export interface SizeOptions {
  /** The argument by which a field limits the items below it. @default 'first' */
  pageArgument?: string;
  /** The longest page that the graph's fields return; longer ones count as this one, as does no page at all. @default 1_000 */
  maxPage?: number;
  /** Lists of the query type without that argument, and how many items each may have. Other lists count as one item. */
  lists?: ReadonlyMap<string, number>;
  /** Mutations to count in `OperationSize.counted`, for example those that check a password. */
  counted?: ReadonlySet<string>;
}

/** Lists in introspection count as three items: some are much longer, but each item costs less. */
const INTROSPECTION_PAGE = 3;
const INTROSPECTIONS = new Map([
  ['__schema', '__Schema'],
  ['__type', '__Type'],
]);

/** The size of an operation, counted in one walk. Fragments count wherever they are spread. */
export interface OperationSize {
  /** Levels of fields, apart from those below `__schema` and `__type`. */
  depth: number;
  introspectionDepth: number;
  aliases: number;
  /** Fields of the mutation type that are in `SizeOptions.counted`. */
  counted: number;
  /** All fields, counted at each spread; a field without a selection counts once per set. */
  fields: number;
  /** The length of their arguments and directives, counted in the same way. */
  characters: number;
  /**
   * How many objects the operation may produce: a field with a page counts what is below it that many times. Lists without one count
   * as one item unless `SizeOptions.lists` has them. Aliases count too, and fields of introspection.
   */
  cost: number;
  /** Whether a variable decides how long a page is, and so the cost. */
  hasVariablePages: boolean;
}

type Variables = Readonly<Record<string, unknown>>;

const NOTHING: OperationSize = {
  depth: 0,
  introspectionDepth: 0,
  aliases: 0,
  counted: 0,
  fields: 0,
  characters: 0,
  cost: 0,
  hasVariablePages: false,
};

/** An operation of a document that is valid for the schema. */
export interface ValidOperation {
  readonly schema: GraphQLSchema;
  readonly document: DocumentNode;
  readonly operation: OperationDefinitionNode;
}

/** Measures the operations of a document, with these coerced variables. The document need not be valid. */
export function createSizer(
  { schema, document }: Pick<ValidOperation, 'schema' | 'document'>,
  options: SizeOptions = {},
  variables: Variables = {},
) {
  const walk = createWalker(schema, document, options, variables);
  return ({ operation, selectionSet }: OperationDefinitionNode): OperationSize =>
    walk(selectionSet, schema.getRootType(operation) ?? undefined);
}

/**
 * Returns the cost of an operation by its coerced variables (`OperationSize.cost`). Walks it again only if they decide how long its
 * pages are, and have other numbers than the last time.
 */
export function costOf(
  valid: ValidOperation,
  options: SizeOptions = {},
  size = createSizer(valid, options)(valid.operation),
) {
  let last = { numbers: '', cost: size.cost };
  return (variables: Variables): number => {
    const isNumber = ([, value]: [string, unknown]) => typeof value === 'number';
    const numbers = size.hasVariablePages ? Object.entries(variables).filter(isNumber).join() : '';
    if (numbers !== last.numbers)
      last = { numbers, cost: createSizer(valid, options, variables)(valid.operation).cost };
    return last.cost;
  };
}

function createWalker(
  schema: GraphQLSchema,
  document: DocumentNode,
  { pageArgument = 'first', maxPage = 1_000, lists, counted }: SizeOptions,
  variables: Variables,
) {
  const fragments = new Map<string, FragmentDefinitionNode>();
  for (const node of document.definitions)
    if (node.kind === Kind.FRAGMENT_DEFINITION) fragments.set(node.name.value, node);
  const walked = new Map<string, OperationSize>();

  const ofSelections = ({ selections }: SelectionSetNode, type: GraphQLCompositeType | undefined): OperationSize => {
    const leaves = new Set<string>();
    const parts = selections.map((selection): OperationSize => {
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

  /** Walks each fragment once. A fragment that spreads itself counts as nothing here: validation rejects it. */
  const ofFragment = (name: string): OperationSize => {
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

  const ofField = (node: FieldNode, parent: GraphQLCompositeType | undefined): OperationSize => {
    const name = node.name.value;
    const own = {
      depth: 1,
      aliases: node.alias ? 1 : 0,
      counted: parent === schema.getMutationType() && counted?.has(name) ? 1 : 0,
      fields: 1,
      characters: lengthOf(node.arguments) + lengthOf(node.directives),
    };
    const field = fieldOf(parent, name);
    if (!node.selectionSet) return { ...NOTHING, ...own, cost: leafCost(node, field, parent) };
    const introspection = INTROSPECTIONS.get(name);
    const type = introspection === undefined ? field && getNamedType(field.type) : schema.getType(introspection);
    const below = ofSelections(node.selectionSet, isCompositeType(type) ? type : undefined);
    const depth = below.depth + 1;
    const page = pageOf(node, field, parent);
    const costBelow = Math.min(below.cost, Number.MAX_SAFE_INTEGER); // infinity times 0 is not a number
    const isList = field !== undefined && isListType(getNullableType(field.type));
    return {
      ...(introspection === undefined
        ? { depth, introspectionDepth: below.introspectionDepth }
        : { depth: 0, introspectionDepth: depth }),
      aliases: own.aliases + below.aliases,
      counted: own.counted + below.counted,
      fields: own.fields + below.fields,
      characters: own.characters + below.characters,
      // A list has as many objects as its page; any other field is one object, with the page below it.
      cost: isList ? page.items * (1 + costBelow) : 1 + page.items * costBelow,
      hasVariablePages: page.isVariable || below.hasVariablePages,
    };
  };

  const limitPage = (value: unknown, otherwise: number) =>
    typeof value === 'number' ? Math.min(Math.max(value, 0), maxPage) : otherwise;

  /** The most items that may come back: the page argument, or else the field's default. */
  const pageOf = (
    node: FieldNode,
    field: GraphQLField<unknown, unknown> | undefined,
    parent: GraphQLCompositeType | undefined,
  ) => {
    const definition = field?.args.find(({ name }) => name === pageArgument);
    if (!definition) {
      const ofSchema = field && isSchemaList(field) ? INTROSPECTION_PAGE : undefined;
      const isRoot = parent === schema.getQueryType() && field !== undefined && isListType(getNullableType(field.type));
      const ofRoot = isRoot ? lists?.get(node.name.value) : undefined;
      return { items: ofSchema ?? ofRoot ?? 1, isVariable: false };
    }
    const usual = limitPage(definition.defaultValue, maxPage);
    const value = node.arguments?.find((argument) => argument.name.value === pageArgument)?.value;
    if (value?.kind === Kind.VARIABLE)
      return { items: limitPage(variables[value.name.value], usual), isVariable: true };
    return { items: value?.kind === Kind.INT ? limitPage(Number(value.value), usual) : usual, isVariable: false };
  };

  return ofSelections;
}

const DEEPEST = ['depth', 'introspectionDepth'] as const;
const SUMMED = ['aliases', 'counted', 'fields', 'characters', 'cost'] as const;

function together(parts: readonly OperationSize[]): OperationSize {
  const whole = { ...NOTHING };
  for (const part of parts) {
    for (const name of DEEPEST) whole[name] = Math.max(whole[name], part[name]);
    for (const name of SUMMED) whole[name] += part[name];
    whole.hasVariablePages ||= part.hasVariablePages;
  }
  return whole;
}

function lengthOf(nodes: readonly ASTNode[] = []): number {
  return nodes.reduce((sum, { loc }) => sum + (loc ? loc.end - loc.start : 0), 0);
}

/** An alias repeats a field in each object of a page, and a text may be as long as all else in its object. */
const ALIASED_TEXT_COST = 5;

function leafCost(
  { alias }: FieldNode,
  field: GraphQLField<unknown, unknown> | undefined,
  parent: GraphQLCompositeType | undefined,
): number {
  if (!alias) return isOfSchema(parent) ? 1 : 0;
  const isText = field !== undefined && getNamedType(field.type) === GraphQLString && !isOfSchema(parent);
  return isText ? ALIASED_TEXT_COST : 1;
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
