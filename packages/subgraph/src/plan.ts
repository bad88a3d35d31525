import {
  isAbstractType,
  isLeafType,
  isListType,
  isNonNullType,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLAbstractType,
  type GraphQLField,
  type GraphQLLeafType,
  type GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLSchema,
  type OperationDefinitionNode,
} from 'graphql';
import { collectFields, collectSubfields } from 'graphql/execution/collectFields.js';
import { getFieldDef } from 'graphql/execution/execute.js';

export interface ObjectPlan {
  fields: readonly FieldPlan[];
  /** Copied for each object, so that keys such as `__proto__` are plain properties, and all objects have one hidden class of V8. */
  shape: Readonly<Record<string, unknown>>;
}

/** The position of a value: a field or a list item. A null that is not allowed here nulls the enclosing slot. */
export interface Slot {
  field: FieldPlan;
  isNonNull: boolean;
  value: ValuePlan;
}

export interface FieldPlan extends Slot {
  key: string;
  nodes: readonly FieldNode[];
  parentType: GraphQLObjectType;
  definition: GraphQLField<unknown, unknown>;
}

export type ValuePlan =
  | { kind: 'leaf'; type: GraphQLLeafType }
  | { kind: 'list'; item: Slot }
  | { kind: 'object'; object: ObjectPlan }
  | { kind: 'abstract'; type: GraphQLAbstractType; objectOf: (type: GraphQLObjectType) => ObjectPlan };

export interface Operation {
  schema: GraphQLSchema;
  definition: OperationDefinitionNode;
  rootType: GraphQLObjectType;
  fragments: Record<string, FragmentDefinitionNode>;
}

/**
 * Computes everything about a validated operation that does not depend on the request, which graphql-js recomputes for
 * each field of each object. `variables` are used only to evaluate `@skip` and `@include`.
 */
export function planOperation(operation: Operation, variables: Record<string, unknown>): ObjectPlan {
  const { schema, definition, rootType, fragments } = operation;

  const objectPlan = (type: GraphQLObjectType, fields: ReadonlyMap<string, readonly FieldNode[]>): ObjectPlan => {
    const plans = [...fields].flatMap(([key, nodes]) => fieldPlan(type, key, nodes) ?? []);
    return { fields: plans, shape: Object.fromEntries(plans.map(({ key }) => [key, undefined])) };
  };
  const subfieldsPlan = (type: GraphQLObjectType, nodes: readonly FieldNode[]): ObjectPlan =>
    objectPlan(type, collectSubfields(schema, fragments, variables, type, nodes));

  const fieldPlan = (parentType: GraphQLObjectType, key: string, nodes: readonly FieldNode[]) => {
    const definition = nodes[0] && getFieldDef(schema, parentType, nodes[0]);
    if (!definition) return undefined;
    const field = { key, nodes, parentType, definition } as FieldPlan; // the next line completes it
    return Object.assign(field, slot(field, definition.type));
  };
  const slot = (field: FieldPlan, type: GraphQLOutputType): Slot => ({
    field,
    isNonNull: isNonNullType(type),
    value: valuePlan(field, type),
  });

  const valuePlan = (field: FieldPlan, type: GraphQLOutputType): ValuePlan => {
    if (isNonNullType(type)) return valuePlan(field, type.ofType);
    if (isLeafType(type)) return { kind: 'leaf', type };
    if (isListType(type)) return { kind: 'list', item: slot(field, type.ofType) };
    if (!isAbstractType(type)) return { kind: 'object', object: subfieldsPlan(type, field.nodes) };
    const plans = new Map<GraphQLObjectType, ObjectPlan>();
    const objectOf = (runtimeType: GraphQLObjectType) => {
      const plan = plans.get(runtimeType) ?? subfieldsPlan(runtimeType, field.nodes);
      plans.set(runtimeType, plan);
      return plan;
    };
    return { kind: 'abstract', type, objectOf };
  };

  return objectPlan(rootType, collectFields(schema, fragments, variables, rootType, definition.selectionSet));
}
