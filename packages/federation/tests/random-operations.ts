import type { Dice } from '@taskmesh/testing';
import {
  getNamedType,
  getNullableType,
  isAbstractType,
  isCompositeType,
  isInterfaceType,
  isLeafType,
  isObjectType,
  type GraphQLCompositeType,
  type GraphQLField,
  type GraphQLSchema,
} from 'graphql';

/** Selections with the same response key must select the same field. */
type Scope = Map<string, { field: string; inner: Scope }>;

const VARIABLES = '($t: Boolean!, $f: Boolean! = false, $n: Int, $words: [String!])';

/** Generates an operation, which is usually valid. */
export function randomOperation(schema: GraphQLSchema, dice: Dice, kind: 'query' | 'mutation', depth: number) {
  const root = kind === 'query' ? schema.getQueryType() : schema.getMutationType();
  if (!root) throw new Error(`There is no ${kind}.`);
  const fragments: string[] = [];
  const context: Context = { schema, dice, fragments, count: 0 };
  const selection = selectionOf(root, depth, new Map<string, never>(), context);
  const used = VARIABLES.slice(1, -1)
    .split(', ')
    .filter((each) => new RegExp(`\\${String(each.split(':')[0])}\\b`).test(`${selection} ${fragments.join(' ')}`));
  const head = used.length > 0 ? `(${used.join(', ')})` : '';
  const variables: Record<string, unknown> = { t: dice.oneIn(2) };
  if (dice.oneIn(2)) variables.f = dice.oneIn(2);
  if (dice.oneIn(2)) variables.n = dice.pick([1, 2, null]);
  if (dice.oneIn(2)) variables.words = dice.pick([['a'], [], null]);
  return { source: `${kind} Random${head} ${selection} ${fragments.join(' ')}`, variables };
}

interface Context {
  schema: GraphQLSchema;
  dice: Dice;
  fragments: string[];
  count: number;
}

function selectionOf(type: GraphQLCompositeType, depth: number, scope: Scope, context: Context): string {
  const { dice } = context;
  const selections: string[] = [];
  const wanted = 1 + dice.int(4);
  for (let index = 0; index < wanted; index++) selections.push(...selectionIn(type, depth, scope, context));
  return `{ ${selections.length > 0 ? selections.join(' ') : '__typename'} }`;
}

function selectionIn(type: GraphQLCompositeType, depth: number, scope: Scope, context: Context): string[] {
  const { dice, schema } = context;
  if (context.count++ > 60) return [];
  if (depth > 0 && dice.oneIn(isAbstractType(type) ? 2 : 5)) return fragmentIn(type, depth, scope, context);
  if (dice.oneIn(8)) return [`${dice.oneIn(4) ? 't: ' : ''}__typename${randomDirectives(dice)}`];
  if (type === schema.getQueryType() && dice.oneIn(20))
    return [dice.pick(['__schema { queryType { name __typename } }', `__type(name: "${type.name}") { kind name }`])];
  if (!('getFields' in type)) return [];
  const fields = Object.values(type.getFields()).filter((each) => depth > 0 || isLeafType(getNamedType(each.type)));
  return fields.length > 0 ? fieldIn(type, dice.pick(fields), depth, scope, context) : [];
}

function fieldIn(
  type: GraphQLCompositeType,
  field: GraphQLField<unknown, unknown>,
  depth: number,
  scope: Scope,
  context: Context,
): string[] {
  const { dice, schema } = context;
  const takesArguments = field.args.length > 0 && dice.oneIn(2);
  const args = takesArguments ? dice.pick(['(n: 1)', '(n: 2)', '(n: $n)', '(words: $words)']) : '';
  const names = 'getFields' in type ? Object.keys(type.getFields()) : [];
  const key = dice.oneIn(3) ? dice.pick(['a', 'b', 'id', ...names]) : field.name;
  const signature = `${field.name}${args}:${String(field.type)}`;
  const known = scope.get(key);
  if (known && known.field !== signature) return [];
  const inner = known?.inner ?? new Map<string, never>();
  scope.set(key, { field: signature, inner });
  const named = getNamedType(getNullableType(field.type));
  const below = isCompositeType(named) ? ` ${selectionOf(named, depth - 1, inner, context)}` : '';
  const again = type === schema.getMutationType() && dice.oneIn(4);
  const text = `${key === field.name ? '' : `${key}: `}${field.name}${args}${randomDirectives(dice)}${below}`;
  return again ? [text, text] : [text];
}

function fragmentIn(type: GraphQLCompositeType, depth: number, scope: Scope, context: Context): string[] {
  const { dice, schema, fragments } = context;
  const condition = dice.pick(conditionsFor(type, schema));
  const selection = selectionOf(condition, depth - (dice.oneIn(2) ? 1 : 0), scope, context);
  if (dice.oneIn(3)) {
    const name = `F${String(fragments.length)}`;
    fragments.push(`fragment ${name} on ${condition.name} ${selection}`);
    return [`...${name}${randomDirectives(dice)}`];
  }
  const on = condition === type && dice.oneIn(2) ? '' : ` on ${condition.name}`;
  return [`...${on}${randomDirectives(dice)} ${selection}`];
}

function conditionsFor(type: GraphQLCompositeType, schema: GraphQLSchema): GraphQLCompositeType[] {
  const possible = isAbstractType(type) ? schema.getPossibleTypes(type) : [type];
  const interfaces = Object.values(schema.getTypeMap())
    .filter(isInterfaceType)
    .filter((each) => possible.some((one) => isObjectType(one) && schema.isSubType(each, one)));
  return [type, ...possible, ...interfaces];
}

function randomDirectives(dice: Dice): string {
  if (!dice.oneIn(5)) return '';
  return ` ${dice.pick(['@skip(if: $t)', '@include(if: $t)', '@skip(if: $f)', '@include(if: true)', '@skip(if: false)', '@include(if: $t) @skip(if: $f)'])}`;
}
