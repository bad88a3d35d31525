import { isExactInteger } from '@taskmesh/federation';
import { isObject } from '@taskmesh/service';
import {
  getNullableType,
  isInputObjectType,
  isListType,
  isScalarType,
  isSpecifiedScalarType,
  Kind,
  typeFromAST,
  valueFromASTUntyped,
  type GraphQLSchema,
  type GraphQLType,
  type ValueNode,
  type VariableDefinitionNode,
} from 'graphql';

type Variables = Readonly<Record<string, unknown>>;

/** Integers beyond 2^53 stay exact for custom scalars; an ID becomes a string, and other types get a number. */
export function readExactIntegers(
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
