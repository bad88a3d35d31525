import {
  getNamedType,
  isAbstractType,
  isEnumType,
  isInterfaceType,
  isLeafType,
  isListType,
  isNonNullType,
  isObjectType,
  isSpecifiedScalarType,
  Kind,
  type FieldNode,
  type GraphQLAbstractType,
  type GraphQLInterfaceType,
  type GraphQLLeafType,
  type GraphQLObjectType,
  type GraphQLOutputType,
  type SelectionNode,
} from 'graphql';
import { collectFields, collectSubfields } from 'graphql/execution/collectFields.js';
import { getFieldDef } from 'graphql/execution/execute.js';
import { isIncluded, type ClientOperation } from '../operation/client-operation.ts';
import type { FieldVariants } from '../operation/field-variants.ts';
import { VALUE_SIZE } from '../result-size.ts';

/** The fields of an object in the client's result, in order. */
export interface ObjectPlan {
  fields: readonly FieldPlan[];
  /** What an object takes, without its texts and what it contains. */
  size: number;
  /**
   * Copied for each object, so that all have V8's hidden class of this one, and keys such as `__proto__` are plain properties;
   * results of 20 and more keys would otherwise be tables of the quadruple size.
   */
  shape: Readonly<Record<string, unknown>>;
}

/** The position of a value: a field or a list item. */
export interface Slot {
  isNonNull: boolean;
  value: ValuePlan;
  /** For error messages. */
  place: string;
}

export interface FieldPlan {
  /** The field's response key. */
  key: string;
  source:
    | { kind: 'data'; /** The field's name in the services' data. */ from: string; slot: Slot }
    | { kind: 'type name'; /** Undefined for interfaces. */ known: string | undefined }
    | { kind: 'introspection'; nodes: readonly FieldNode[] };
}

export type Leaf = 'String' | 'ID' | 'Int' | 'Float' | 'Boolean' | 'custom' | ReadonlySet<string>;

export type ValuePlan =
  | { kind: 'leaf'; leaf: Leaf }
  | { kind: 'list'; item: Slot }
  | { kind: 'object'; object: ObjectPlan }
  | { kind: 'abstract'; planOf: PlanByType };

/** Returns the plan for an object's `__typename`; undefined for a type that clients do not know. */
export type PlanByType = (typeName: unknown) => ObjectPlan | undefined;

type FieldsType = GraphQLObjectType | GraphQLInterfaceType | GraphQLAbstractType;

export interface ProjectionContext {
  operation: ClientOperation;
  /** The variables that `@skip` and `@include` depend on. */
  variables: Record<string, unknown>;
  variants: FieldVariants;
  /** Called with the number of planned fields: at once, and when the first object of a type arrives. */
  planned: (fields: number) => void;
}

/** Field nodes by response key, in the order of the result. */
export type RootFields = ReadonlyMap<string, readonly FieldNode[]>;

export function collectRootFields(operation: ClientOperation, variables: Record<string, unknown>): RootFields {
  const { schema, fragments, rootType, definition } = operation;
  return collectFields(schema, fragments, variables, rootType, definition.selectionSet);
}

/** Plans how the services' data become the client's result, for these root fields. */
export function planProjection(context: ProjectionContext, rootFields: RootFields): ObjectPlan {
  const { operation, variables, variants, planned } = context;
  const { schema, fragments, rootType } = operation;

  const objectPlan = (type: FieldsType, fields: RootFields): ObjectPlan => {
    planned(fields.size + 1);
    const plans = [...fields].flatMap(([key, nodes]) => fieldPlan(type, key, nodes) ?? []);
    return {
      fields: plans,
      size: plans.reduce((size, { key }) => size + key.length + VALUE_SIZE, 0),
      shape: Object.fromEntries(plans.map(({ key }) => [key, undefined])),
    };
  };

  // graphql-js declares an object type for the parameter, but interfaces work, too.
  const below = (type: FieldsType, nodes: readonly FieldNode[]): ObjectPlan =>
    objectPlan(type, collectSubfields(schema, fragments, variables, type as GraphQLObjectType, nodes));

  const fieldPlan = (type: FieldsType, key: string, nodes: readonly FieldNode[]): FieldPlan | undefined => {
    const [node] = nodes;
    if (!node) return undefined;
    const name = node.name.value;
    if (name === '__typename')
      return { key, source: { kind: 'type name', known: isObjectType(type) ? type.name : undefined } };
    if (name.startsWith('__')) return { key, source: { kind: 'introspection', nodes } };
    const definition = 'getFields' in type && getFieldDef(schema, type as GraphQLObjectType, node); // as above
    if (!definition) return undefined;
    const from = variants.keyOf(node);
    return { key, source: { kind: 'data', from, slot: slot(definition.type, nodes, `field ${type.name}.${from}`) } };
  };

  const slot = (type: GraphQLOutputType, nodes: readonly FieldNode[], place: string): Slot => ({
    isNonNull: isNonNullType(type),
    place,
    value: valuePlan(isNonNullType(type) ? type.ofType : type, nodes),
  });

  const valuePlan = (type: Exclude<GraphQLOutputType, { ofType: never }>, nodes: readonly FieldNode[]): ValuePlan => {
    if (isNonNullType(type)) return valuePlan(type.ofType, nodes);
    if (isListType(type)) {
      const place = `array element of type ${String(getNamedType(type))}`;
      return { kind: 'list', item: slot(type.ofType, nodes, place) };
    }
    if (isLeafType(type)) return { kind: 'leaf', leaf: leafOf(type) };
    if (isObjectType(type)) return { kind: 'object', object: below(type, nodes) };
    return { kind: 'abstract', planOf: plansByType(type, nodes) };
  };

  /** Creates each plan when the first object of its type arrives, because usually few of the possible types occur. */
  const plansByType = (type: GraphQLAbstractType, nodes: readonly FieldNode[]): PlanByType => {
    const plans = new Map<unknown, ObjectPlan | undefined>();
    return (given) => {
      // A service that knows the type only as an interface object returns the interface's name, or nothing if not requested.
      const typeName = given ?? type.name;
      if (plans.has(typeName)) return plans.get(typeName);
      if (typeof typeName !== 'string') return undefined;
      const named = schema.getType(typeName);
      const fits = (isObjectType(named) && schema.isSubType(type, named)) || isInterfaceOf(named);
      if (!fits || !named || !(isObjectType(named) || isAbstractType(named))) return undefined;
      const plan = below(named, nodes);
      plans.set(typeName, plan);
      return plan;
    };
    function isInterfaceOf(named: unknown): boolean {
      if (!isInterfaceType(named) || !(named === type || schema.isSubType(type, named))) return false;
      // If the selection depends on the concrete type, which is unknown, there is no plan.
      return !nodes.some((node) => dependsOnType(node, named));
    }
  };

  const selectionsIn = (node: SelectionNode): readonly SelectionNode[] => {
    const fragment = node.kind === Kind.FRAGMENT_SPREAD ? fragments[node.name.value] : node;
    return fragment?.selectionSet?.selections.filter((each) => isIncluded(each, variables)) ?? [];
  };

  const selectsAnything = (fragment: SelectionNode): boolean =>
    fragment.kind === Kind.FIELD || selectionsIn(fragment).some(selectsAnything);

  /** Whether the selection has fragments that may or may not apply when only the interface is known. */
  const dependsOnType = (node: SelectionNode, known: GraphQLInterfaceType): boolean =>
    selectionsIn(node).some((selection) => {
      if (selection.kind === Kind.FIELD) return false;
      const fragment = selection.kind === Kind.FRAGMENT_SPREAD ? fragments[selection.name.value] : selection;
      const condition = schema.getType(fragment?.typeCondition?.name.value ?? known.name);
      const applies = condition === known || (isAbstractType(condition) && schema.isSubType(condition, known));
      return applies ? dependsOnType(selection, known) : selectsAnything(selection);
    });

  return objectPlan(rootType, rootFields);
}

function leafOf(type: GraphQLLeafType): Leaf {
  if (isEnumType(type)) return new Set(type.getValues().map(({ name }) => name));
  return isSpecifiedScalarType(type) ? (type.name as Leaf) : 'custom'; // the names of specified scalars are Leafs
}
