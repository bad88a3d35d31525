import {
  getNamedType,
  type GraphQLEnumType,
  GraphQLError,
  type GraphQLInputObjectType,
  type GraphQLInputType,
  type GraphQLScalarType,
  type GraphQLSchema,
  isEnumType,
  isInputObjectType,
  isInputType,
  isListType,
  isNonNullType,
  isScalarType,
  isSpecifiedScalarType,
  Kind,
  typeFromAST,
  TypeInfo,
  ValidationContext,
  valueFromAST,
  valueFromASTUntyped,
  type ValueNode,
} from 'graphql';
import { isExactInteger } from '../exact-json.ts';
import type { ValidOperation } from './operation-size.ts';
import { createParts, type PartOf } from './parts.ts';

const MAX_ISSUES = 10;
/** Names and indexes in the path of an object. */
const MAX_LEVELS = 100;
/** Longer names from clients are cut, so that messages stay short. */
const MAX_NAME = 64;
/** Memory of a name in a set, without its text, which belongs to the document. */
const NAME_BYTES = 64;

/** What is wrong with variables. */
export interface VariableIssue {
  /** Names and indexes joined with points, such as `input.tags.0`. */
  path: string;
  /** A sentence that names the path and never repeats a value. */
  message: string;
}

/** Makes the error that is thrown for these issues, of which there is at least one. */
export type RefuseVariables = (issues: VariableIssue[]) => Error;

/** An operation whose variables are coerced. */
export interface VariablesOperation extends ValidOperation {
  /** Keeps what nulls are checked with; without it, that is found again for each request with a null. */
  readonly partOf?: PartOf;
  /** Whether messages leave out the values of enums that the client has not named. @default false */
  readonly hideSuggestions?: boolean;
}

/**
 * Coerces variables to the operation's types and fills in its defaults, by the rules of GraphQL. Not with graphql-js, whose
 * messages repeat values. Integers beyond 2^53 stay exact for custom scalars; an ID becomes a string, and other types get a number.
 * @param sent the variables of a request, if it has any. Those of `parseExactJson` have large integers as they were sent
 * @param refuse @default a GraphQLError with the code BAD_USER_INPUT and `issues` in its extensions
 * @throws what `refuse` returns, for at most ten issues
 */
export function coerceVariables(
  valid: VariablesOperation,
  sent: Readonly<Record<string, unknown>> | null | undefined,
  refuse: RefuseVariables = badUserInput,
): Record<string, unknown> {
  const { schema, operation, hideSuggestions = false } = valid;
  const coercing: Coercing = { path: [], issues: [], showsChoices: !hideSuggestions, refuse };
  const coerced: [string, unknown][] = [];
  for (const { variable, type: node, defaultValue } of operation.variableDefinitions ?? []) {
    const name = variable.name.value;
    const type = typeFromAST(schema, node);
    if (!isInputType(type)) continue; // validation has already refused it
    if (sent && Object.hasOwn(sent, name)) coerced.push([name, coerceAt(name, sent[name], type, coercing)]);
    else if (defaultValue) coerced.push([name, valueFromAST(defaultValue, type)]);
    else if (isNonNullType(type)) report(coercing, 'is required', name);
  }
  if (coercing.issues.length > 0) throw refuse(coercing.issues);
  const variables = Object.fromEntries(coerced);
  refuseNulls(valid, variables, refuse);
  return variables;
}

/**
 * With a default, a nullable variable may be used in a non-null position. An explicit null would then fail during
 * execution, perhaps after some mutations have run.
 */
function refuseNulls(
  valid: VariablesOperation,
  coerced: Readonly<Record<string, unknown>>,
  refuse: RefuseVariables,
): void {
  const nulls = Object.keys(coerced).filter((name) => coerced[name] === null);
  if (nulls.length === 0) return;
  const needed = neededOf(valid);
  const issues = nulls
    .filter((name) => needed.has(name))
    .map((path) => ({ path, message: `${path} must not be null.` }));
  if (issues.length > 0) throw refuse(issues.slice(0, MAX_ISSUES));
}

/** The variables that are used in a non-null position. */
function neededOf({ schema, document, operation, partOf = createParts() }: VariablesOperation): ReadonlySet<string> {
  return partOf('needed variables', (resized) => {
    const context = new ValidationContext(schema, document, new TypeInfo(schema), () => undefined);
    const usages = context.getRecursiveVariableUsages(operation).filter(({ type }) => isNonNullType(type));
    const names = new Set(usages.map(({ node }) => node.name.value));
    resized(NAME_BYTES * names.size);
    return names;
  });
}

interface Coercing {
  /** The current position in the input. */
  path: (string | number)[];
  issues: VariableIssue[];
  showsChoices: boolean;
  refuse: RefuseVariables;
}

function badUserInput(issues: VariableIssue[]): GraphQLError {
  const message = issues.map((issue) => issue.message).join(' ');
  return new GraphQLError(message, { extensions: { code: 'BAD_USER_INPUT', issues } });
}

/** @throws the refusal once there are `MAX_ISSUES` issues */
function report({ path, issues, refuse }: Coercing, problem: string, ...below: string[]): undefined {
  const location = [...path, ...below].join('.');
  if (issues.push({ path: location, message: `${location} ${problem}.` }) === MAX_ISSUES) throw refuse(issues);
}

function coerceAt(step: string | number, value: unknown, type: GraphQLInputType, coercing: Coercing): unknown {
  coercing.path.push(step);
  const coerced = coerce(value, type, coercing);
  coercing.path.pop();
  return coerced;
}

function coerce(value: unknown, type: GraphQLInputType, coercing: Coercing): unknown {
  if (isNonNullType(type))
    return value === null ? report(coercing, 'must not be null') : coerce(value, type.ofType, coercing);
  if (value === null) return null;
  if (isListType(type)) {
    if (!Array.isArray(value)) return [coerce(value, type.ofType, coercing)];
    return value.map((item: unknown, index) => coerceAt(index, item, type.ofType, coercing));
  }
  if (isInputObjectType(type)) return coerceObject(value, type, coercing);
  const leaf = parseLeaf(value, type);
  if (leaf !== undefined) return leaf;
  const choices = coercing.showsChoices ? enumValuesOf(type) : undefined;
  return report(coercing, choices === undefined ? `must be of type ${type.name}` : `must be one of ${choices}`);
}

function coerceObject(value: unknown, type: GraphQLInputObjectType, coercing: Coercing): unknown {
  if (typeof value !== 'object' || Array.isArray(value) || isExactInteger(value))
    return report(coercing, 'must be an object');
  if (coercing.path.length > MAX_LEVELS) return report(coercing, 'is nested too deeply');
  const given = value as Readonly<Record<string, unknown>>;
  const fields = type.getFields();
  const coerced: [string, unknown][] = [];
  for (const { name, type: ofField, defaultValue } of Object.values(fields)) {
    if (Object.hasOwn(given, name)) coerced.push([name, coerceAt(name, given[name], ofField, coercing)]);
    else if (defaultValue !== undefined) coerced.push([name, defaultValue]);
    else if (isNonNullType(ofField)) report(coercing, 'is required', name);
  }
  for (const name of Object.keys(given))
    if (!Object.hasOwn(fields, name)) report(coercing, `is not a field of ${type.name}`, name.slice(0, MAX_NAME));
  if (type.isOneOf && !(Object.keys(given).length === 1 && Object.values(given)[0] !== null))
    report(coercing, 'must have exactly one field, and not null');
  return Object.fromEntries(coerced);
}

/** Undefined when the value is not of the type. */
function parseLeaf(value: unknown, type: GraphQLScalarType | GraphQLEnumType): unknown {
  const isCustom = isCustomScalar(type);
  if (isExactInteger(value) && !isCustom)
    return parseLeaf(type.name === 'ID' ? value.rawJSON : Number(value.rawJSON), type);
  if (typeof value === 'object' && !isCustom) return undefined; // graphql-js's message might be as long as the value
  try {
    return isWritable(value) ? type.parseValue(value) : undefined;
  } catch {
    return undefined;
  }
}

/** A number beyond the range of doubles is parsed as infinity, which JSON would write as null. */
const isWritable = (value: unknown): boolean =>
  typeof value === 'object'
    ? Object.values(value ?? {}).every(isWritable)
    : typeof value !== 'number' || Number.isFinite(value);

const isCustomScalar = (type: unknown) => isScalarType(type) && !isSpecifiedScalarType(type);

/** Lets the schema's custom scalars read literals, such as the defaults of variables, without rounding. Changes the schema. */
export function withExactLiterals(schema: GraphQLSchema): GraphQLSchema {
  for (const type of Object.values(schema.getTypeMap()))
    if (isScalarType(type) && isCustomScalar(type)) type.parseLiteral = exactLiteral;
  return schema;
}

function exactLiteral(node: ValueNode, variables?: Parameters<typeof valueFromASTUntyped>[1]): unknown {
  switch (node.kind) {
    case Kind.INT:
      return Number.isSafeInteger(Number(node.value)) ? Number(node.value) : JSON.rawJSON(node.value);
    case Kind.FLOAT:
      if (!isWritable(Number(node.value))) throw new GraphQLError('The number is too large.', { nodes: node });
      return Number(node.value);
    case Kind.LIST:
      return node.values.map((value) => exactLiteral(value, variables));
    case Kind.OBJECT:
      return Object.fromEntries(node.fields.map(({ name, value }) => [name.value, exactLiteral(value, variables)]));
    default:
      return valueFromASTUntyped(node, variables);
  }
}

/** An enum of a foreign graph may be very long. */
const MAX_CHOICES = 20;

/** The values of an enum for messages, such as `LOW, MEDIUM, HIGH`; undefined for other types and for long enums. */
export function enumValuesOf(type: GraphQLInputType): string | undefined {
  const named = getNamedType(type);
  if (!isEnumType(named)) return undefined;
  const names = named.getValues().map(({ name }) => name);
  return names.length <= MAX_CHOICES ? names.join(', ') : undefined;
}
