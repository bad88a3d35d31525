import type { FetchNode, QueryPlan } from '@apollo/query-planner';
import {
  isScalarType,
  isSpecifiedScalarType,
  getNamedType,
  Kind,
  parse,
  print,
  TypeInfo,
  visit,
  visitWithTypeInfo,
  type DocumentNode,
  type EnumValueNode,
  type FloatValueNode,
  type GraphQLSchema,
  type IntValueNode,
} from 'graphql';
import { replaceFetches } from '../replace-fetches.ts';

type Literal = IntValueNode | FloatValueNode | EnumValueNode;

export interface ExactLiterals {
  /** For the planner. */
  document: DocumentNode;
  /** Puts the client's literals back into the plan. */
  restore(plan: QueryPlan): QueryPlan;
}

/**
 * The planner converts the literals of custom scalars to JavaScript values and back: numbers lose the precision that a double
 * cannot hold, and enum names become strings. So it receives strings in place of literals that it would change.
 */
export function keepLiteralsExact(schema: GraphQLSchema, document: DocumentNode): ExactLiterals {
  const types = new TypeInfo(schema);
  const kept = new Map<string, Literal>();
  const mark = freeMark(document);

  const placeholder = (literal: Literal) => {
    // Values inside an object of a custom scalar have no type.
    const type = getNamedType(types.getInputType());
    if (type && !(isScalarType(type) && !isSpecifiedScalarType(type))) return undefined;
    if (literal.kind !== Kind.ENUM && String(Number(literal.value)) === literal.value) return undefined;
    const value = `${mark}${kept.size}`;
    kept.set(value, literal);
    return { kind: Kind.STRING, value };
  };
  const forPlanner = visit(
    document,
    visitWithTypeInfo(types, {
      // Default values have already been applied.
      VariableDefinition: () => false,
      IntValue: placeholder,
      FloatValue: placeholder,
      EnumValue: placeholder,
    }),
  );
  if (kept.size === 0) return { document, restore: (plan) => plan };

  const restored = (fetch: FetchNode): FetchNode => {
    const operation = parse(fetch.operation, { noLocation: true });
    return { ...fetch, operation: print(visit(operation, { StringValue: ({ value }) => kept.get(value) })) };
  };
  return { document: forPlanner, restore: (plan) => replaceFetches(plan, restored) };
}

/** A prefix with which no string in the document begins: `literal` with one more space than in any of them. */
function freeMark(document: DocumentNode): string {
  let mark = 'literal ';
  visit(document, {
    StringValue: ({ value }) => {
      const [start] = /^literal +/.exec(value) ?? [];
      if (start && start.length >= mark.length) mark = `${start} `;
    },
  });
  return mark;
}
