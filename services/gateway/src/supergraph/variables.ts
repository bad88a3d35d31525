import { badUserInput, type Issue, toGraphQLError } from '@taskmesh/contracts';
import { isExactInteger } from '@taskmesh/federation';
import { isObject } from '@taskmesh/service';
import {
  getNamedType,
  getNullableType,
  getVariableValues,
  type GraphQLEnumType,
  type GraphQLInputObjectType,
  type GraphQLInputType,
  type GraphQLScalarType,
  type GraphQLSchema,
  type GraphQLType,
  isEnumType,
  isInputObjectType,
  isInputType,
  isListType,
  isNonNullType,
  isRequiredInputField,
  isScalarType,
  isSpecifiedScalarType,
  Kind,
  typeFromAST,
  TypeInfo,
  ValidationContext,
  valueFromASTUntyped,
  type ValueNode,
  type VariableDefinitionNode,
} from 'graphql';
import type { PreparedOperation } from './operation.ts';

const MAX_ISSUES = 10;
/** A client's longer names are cut, so that messages stay short. */
const MAX_NAME = 64;
/** For a name in a set; its text is the document's. */
const NAME_BYTES = 64;

/** What messages tell of the values of a type. */
type ChoicesOf = (type: GraphQLInputType) => string | undefined;

/**
 * Coerces variables to the operation's types and fills in its defaults.
 * @throws GraphQLError BAD_USER_INPUT with issues that name paths, never values
 */
export function coerceVariables(
  prepared: PreparedOperation,
  sent: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const {
    schema,
    operation: { variableDefinitions = [] },
    hideSuggestions = false,
  } = prepared;
  const given = readExactIntegers(schema, variableDefinitions, sent);
  const choicesOf: ChoicesOf = hideSuggestions ? () => undefined : enumValuesOf;
  const refuseProblems = () => {
    const issues: Issue[] = [];
    for (const issue of problemsOf(schema, variableDefinitions, given, choicesOf))
      if (issues.push(issue) === MAX_ISSUES) break;
    if (issues.length > 0) throw toGraphQLError(badUserInput(issues));
  };
  // graphql-js would describe all of what it refuses, which may be large.
  if (Object.values(given).some((value) => typeof value === 'object' && value !== null)) refuseProblems();
  const { coerced, errors } = getVariableValues(schema, variableDefinitions, given, {
    maxErrors: 1, // only to detect an error: graphql-js's messages repeat the values
    hideSuggestions: true,
  });
  if (!errors) {
    refuseNulls(prepared, coerced);
    return coerced;
  }
  refuseProblems();
  throw toGraphQLError(badUserInput([{ path: '', message: 'The variables do not fit the operation.' }]));
}

/**
 * With a default, a nullable variable may be used at a non-null place. An explicit null would then fail during
 * execution, perhaps after some mutations have run.
 */
function refuseNulls(prepared: PreparedOperation, coerced: Readonly<Record<string, unknown>>): void {
  const nulls = Object.keys(coerced).filter((name) => coerced[name] === null);
  if (nulls.length === 0) return;
  const needed = neededOf(prepared);
  const issues = nulls.flatMap((name) => (needed.has(name) ? nullIssue(name) : []));
  if (issues.length > 0) throw toGraphQLError(badUserInput(issues.slice(0, MAX_ISSUES)));
}

const nullIssue = (path: string): Issue => ({ path, message: `${path} must not be null.` });

/** The variables that are used at a non-null place. */
function neededOf({ schema, document, operation, partOf }: PreparedOperation): ReadonlySet<string> {
  return partOf('needed variables', (resized) => {
    const context = new ValidationContext(schema, document, new TypeInfo(schema), () => undefined);
    const usages = context.getRecursiveVariableUsages(operation).filter(({ type }) => isNonNullType(type));
    const names = new Set(usages.map(({ node }) => node.name.value));
    resized(NAME_BYTES * names.size);
    return names;
  });
}

function* problemsOf(
  schema: GraphQLSchema,
  definitions: readonly VariableDefinitionNode[],
  given: Readonly<Record<string, unknown>>,
  choicesOf: ChoicesOf,
): Generator<Issue> {
  for (const { variable, type: node, defaultValue } of definitions) {
    const name = variable.name.value;
    const isGiven = Object.hasOwn(given, name);
    const type = typeFromAST(schema, node);
    if (isInputType(type) && (isGiven || !defaultValue))
      yield* issuesOf(isGiven ? given[name] : undefined, type, name, choicesOf);
  }
}

/** Why `value` is not of `type`, by the coercion rules of graphql-js. */
function* issuesOf(value: unknown, type: GraphQLInputType, path: string, choicesOf: ChoicesOf): Generator<Issue> {
  if (value === undefined || value === null) {
    if (isNonNullType(type)) yield value === null ? nullIssue(path) : { path, message: `${path} is required.` };
  } else if (isNonNullType(type)) yield* issuesOf(value, type.ofType, path, choicesOf);
  else if (isListType(type)) {
    if (!Array.isArray(value)) yield* issuesOf(value, type.ofType, path, choicesOf);
    else
      for (const [index, item] of value.entries())
        yield* issuesOf(item ?? null, type.ofType, `${path}.${index}`, choicesOf);
  } else if (isInputObjectType(type)) {
    if (typeof value === 'object' && !Array.isArray(value)) yield* fieldIssuesOf(value, type, path, choicesOf);
    else yield { path, message: `${path} must be an object.` };
  } else if (!isAccepted(value, type)) {
    const values = choicesOf(type);
    yield { path, message: `${path} must be ${values === undefined ? `of type ${type.name}` : `one of ${values}`}.` };
  }
}

function* fieldIssuesOf(
  value: object,
  type: GraphQLInputObjectType,
  path: string,
  choicesOf: ChoicesOf,
): Generator<Issue> {
  const given = value as Readonly<Record<string, unknown>>;
  const fields = type.getFields();
  for (const field of Object.values(fields)) {
    const isGiven = Object.hasOwn(given, field.name);
    if (isGiven || isRequiredInputField(field))
      yield* issuesOf(isGiven ? given[field.name] : undefined, field.type, `${path}.${field.name}`, choicesOf);
  }
  for (const name of Object.keys(given)) {
    if (Object.hasOwn(fields, name)) continue;
    const place = `${path}.${name.slice(0, MAX_NAME)}`;
    yield { path: place, message: `${place} is not a field of ${type.name}.` };
  }
  if (type.isOneOf && !(Object.keys(given).length === 1 && Object.values(given)[0] !== null))
    yield { path, message: `${path} must have exactly one field, and not null.` };
}

function isAccepted(value: unknown, type: GraphQLScalarType | GraphQLEnumType): boolean {
  if (typeof value === 'object' && (isEnumType(type) || isSpecifiedScalarType(type))) return false;
  try {
    return type.parseValue(value) !== undefined;
  } catch {
    return false;
  }
}

type Variables = Readonly<Record<string, unknown>>;

/** Integers beyond 2^53 stay exact for custom scalars; an ID becomes a string, and other types get a number. */
function readExactIntegers(
  schema: GraphQLSchema,
  definitions: readonly VariableDefinitionNode[],
  given: Variables,
): Variables {
  return readFields(
    given,
    definitions.map(({ variable, type }) => ({ name: variable.name.value, type: typeFromAST(schema, type) })),
  );
}

interface Typed {
  name: string;
  type: GraphQLType | undefined;
}

/** Looks only where the types have room for values, and copies only what changes. */
function readFields(object: Variables, fields: readonly Typed[]): Variables {
  const changed = fields.flatMap(({ name, type }) => {
    const value = Object.hasOwn(object, name) ? object[name] : undefined;
    const read = readValue(value, type);
    return read === value ? [] : [[name, read]];
  });
  return changed.length > 0 ? { ...object, ...(Object.fromEntries(changed) as Variables) } : object;
}

function readValue(value: unknown, type: GraphQLType | undefined): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const nullable = getNullableType(type);
  if (isListType(nullable)) {
    if (!Array.isArray(value)) return readValue(value, nullable.ofType);
    return value.some((item) => typeof item === 'object')
      ? value.map((item) => readValue(item, nullable.ofType))
      : value;
  }
  if (isExactInteger(value)) {
    if (isCustomScalar(nullable)) return value;
    return nullable?.toString() === 'ID' ? value.rawJSON : Number(value.rawJSON);
  }
  return isInputObjectType(nullable) && isObject(value)
    ? readFields(value, Object.values(nullable.getFields()))
    : value;
}

const isCustomScalar = (type: unknown) => isScalarType(type) && !isSpecifiedScalarType(type);

/** Lets the schema's custom scalars read literals, such as the defaults of variables, without rounding. */
export function withExactLiterals(schema: GraphQLSchema): GraphQLSchema {
  for (const type of Object.values(schema.getTypeMap()))
    if (isScalarType(type) && !isSpecifiedScalarType(type)) type.parseLiteral = exactLiteral;
  return schema;
}

function exactLiteral(node: ValueNode, variables?: Parameters<typeof valueFromASTUntyped>[1]): unknown {
  switch (node.kind) {
    case Kind.INT:
      return Number.isSafeInteger(Number(node.value)) ? Number(node.value) : JSON.rawJSON(node.value);
    case Kind.LIST:
      return node.values.map((value) => exactLiteral(value, variables));
    case Kind.OBJECT:
      return Object.fromEntries(node.fields.map(({ name, value }) => [name.value, exactLiteral(value, variables)]));
    default:
      return valueFromASTUntyped(node, variables);
  }
}

/** An enum of another graph may be as long as a book. */
const MOST = 20;

/** What a client may choose from, for messages: `LOW, MEDIUM, HIGH`; undefined where the type is enough to say. */
export function enumValuesOf(type: GraphQLInputType): string | undefined {
  const named = getNamedType(type);
  if (!isEnumType(named)) return undefined;
  const names = named.getValues().map(({ name }) => name);
  return names.length <= MOST ? names.join(', ') : undefined;
}
