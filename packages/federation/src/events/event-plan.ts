import type { FetchNode, FlattenNode, PlanNode, QueryPlan, SubscriptionNode } from '@apollo/query-planner';
import {
  type FieldNode,
  getNamedType,
  type GraphQLCompositeType,
  type GraphQLSchema,
  isAbstractType,
  isCompositeType,
  Kind,
  type OperationDefinitionNode,
  parse,
  print,
  type SelectionNode,
  type SelectionSetNode,
  visit,
} from 'graphql';
import { FRAGMENT, renamedKeys } from '../execution/rewrites.ts';
import type { ServiceError } from '../execution/run.ts';
import { fieldNode } from '../operation/field-variants.ts';
import { fragmentOn } from '../operation/normal-form.ts';

/** Prefix of a service name in plans: the fetch reads the event that the service sent, instead of calling the service. */
const EVENT = '__event__';

/** The service whose event provides a fetch's data; undefined for ordinary fetches. */
export function senderOfEvent(service: string): string | undefined {
  return service.startsWith(EVENT) ? service.slice(EVENT.length) : undefined;
}

/** Restores the service's own name in an error about its event. */
export function ofItsService({ message, service, ...error }: ServiceError): ServiceError {
  const sender = service !== undefined && { service: senderOfEvent(service) ?? service };
  return { ...error, message: message.replaceAll(EVENT, ''), ...sender };
}

/**
 * Converts the plan of a subscription to that of a query. An event provides the data of its first fetch (`senderOfEvent`); the
 * other fetches request fields that the event lacks.
 * @param split divides the first fetch into the part that the event has and further fetches. @default the event has everything
 */
export function planForEvents(
  { node }: QueryPlan,
  split: (primary: SubscriptionNode['primary']) => SplitFetch = (primary) => ({ primary, others: [] }),
): QueryPlan {
  if (node?.kind !== 'Subscription') throw new Error('The planner did not plan a subscription.');
  const { primary, others } = split(node.primary);
  const nodes: PlanNode[] = [{ ...primary, serviceName: EVENT + primary.serviceName }];
  if (others.length > 0) nodes.push({ kind: 'Parallel', nodes: others });
  if (node.rest) nodes.push(node.rest);
  return { kind: 'QueryPlan', node: { kind: 'Sequence', nodes } };
}

interface SplitFetch {
  /** The part that the event answers. */
  primary: FetchNode;
  /** The fetches that the same service still has to answer, per object in the event. */
  others: FlattenNode[];
}

/** What events contain, by type. */
export interface EventContents {
  /**
   * The fields that are in each event, as values that do not depend on arguments, beginning with those of the type
   * `Subscription`. `__typename` is implied, but has to be there below interfaces and unions. An event must have every field of
   * a type that is not listed, or has no key, and every field that the root field's service only `@provides`.
   */
  fields: Readonly<Record<string, ReadonlySet<string>>>;
  /** The fields of an entity's `@key` in the root field's service. They are in each event; its other fields are fetched by them. */
  keys: Readonly<Record<string, readonly string[]>>;
}

export const isInEvent = ({ fields }: EventContents, type: string, field: string): boolean =>
  field === '__typename' || ownOf(fields, type)?.has(field) === true;

/** A type may be called `constructor`. */
const ownOf = <Value>(record: Readonly<Record<string, Value>>, type: string): Value | undefined =>
  Object.hasOwn(record, type) ? record[type] : undefined;

/**
 * The planner treats the event as a response of the root field's service, with every field that the service has there.
 * Fields that the event lacks are fetched by the object's key instead.
 */
export function splitPrimary(primary: FetchNode, schema: GraphQLSchema, contents: EventContents): SplitFetch {
  const document = parse(primary.operation, { noLocation: true });
  const operation = document.definitions.find((each) => each.kind === Kind.OPERATION_DEFINITION);
  const root = schema.getSubscriptionType();
  if (!operation || !root) return { primary, others: [] };
  const missing: { path: string[]; type: string; key: string[]; fields: FieldNode[] }[] = [];

  const lacks = ({ name }: GraphQLCompositeType, field: string) =>
    ownOf(contents.fields, name) && ownOf(contents.keys, name) && !isInEvent(contents, name, field);

  /** `path` has the type conditions, as the paths of the planner's rewrites do. */
  const keepCovered = (set: SelectionSetNode, type: GraphQLCompositeType, path: string[]): SelectionSetNode => {
    const absent: FieldNode[] = [];
    const kept = set.selections.flatMap((selection): SelectionNode[] => {
      if (selection.kind === Kind.INLINE_FRAGMENT) {
        const condition = selection.typeCondition?.name.value ?? type.name;
        const narrowed = isAbstractType(type) ? schema.getType(condition) : type;
        if (!isCompositeType(narrowed)) return [];
        const place = [...path, FRAGMENT + condition];
        return [{ ...selection, selectionSet: keepCovered(selection.selectionSet, narrowed, place) }];
      }
      if (selection.kind !== Kind.FIELD) return [selection]; // the planner's fetches have no named fragments
      const name = selection.name.value;
      if (lacks(type, name)) {
        absent.push(selection);
        return [];
      }
      const types = isAbstractType(type) ? schema.getPossibleTypes(type) : [];
      const inEvent =
        types.length > 0 && types.every((each) => lacks(each, name)) ? selection : keepField(selection, type, path);
      if (!types.some((each) => lacks(each, name))) return [inEvent];
      // Once for all types that have the field: once for each would double the work with each level.
      const alone = { ...set, selections: [selection] };
      return types.map((each) =>
        fragmentOn(each, lacks(each, name) ? keepCovered(alone, each, path).selections : [inEvent]),
      );
    });
    if (absent.length === 0) return { ...set, selections: kept };
    const key = ['__typename', ...(contents.keys[type.name] ?? [])];
    const known = missing.find((each) => each.type === type.name && each.path.join() === path.join());
    if (known) known.fields.push(...absent);
    else missing.push({ path, type: type.name, key, fields: absent });
    const added = key.filter((name) => !isSelected(kept, name)).map((name) => fieldNode(name));
    return { ...set, selections: [...kept, ...added] };
  };

  const keepField = (field: FieldNode, type: GraphQLCompositeType, path: string[]): FieldNode => {
    const inner = 'getFields' in type && getNamedType(type.getFields()[field.name.value]?.type);
    if (!field.selectionSet || !isCompositeType(inner)) return field;
    const place = [...path, field.alias?.value ?? field.name.value];
    return { ...field, selectionSet: keepCovered(field.selectionSet, inner, place) };
  };

  const selectionSet = keepCovered(operation.selectionSet, root, []);
  if (missing.length === 0) return { primary, others: [] };
  const { outputRewrites = [] } = primary;
  const renamed = renamedKeys(outputRewrites);
  const covered = print({ ...document, definitions: [withSelections(operation, selectionSet)] });
  return {
    primary: { ...primary, operation: covered },
    others: missing.map(({ path, ...entity }) => ({
      kind: 'Flatten',
      path: path.filter((step) => !step.startsWith(FRAGMENT)).map((step) => renamed.get(step) ?? step),
      node: {
        ...entityFetch(primary.serviceName, operation, entity),
        outputRewrites: outputRewrites
          .filter((each) => each.path.length > path.length && path.every((step, index) => each.path[index] === step))
          .map((each) => ({ ...each, path: each.path.slice(path.length) })),
      },
    })),
  };
}

function entityFetch(
  serviceName: string,
  { variableDefinitions = [] }: OperationDefinitionNode,
  { type, key, fields }: { type: string; key: string[]; fields: FieldNode[] },
): FetchNode {
  const selected = fields.map((field) => print(field)).join(' ');
  const used = variablesIn(fields);
  const definitions = variableDefinitions.filter(({ variable }) => used.has(variable.name.value)).map(print);
  const variables = ['$representations: [_Any!]!', ...definitions].join(', ');
  return {
    kind: 'Fetch',
    serviceName,
    requires: [
      { kind: 'InlineFragment', typeCondition: type, selections: key.map((name) => ({ kind: 'Field', name })) },
    ],
    variableUsages: [...used],
    operation: `query(${variables}) { _entities(representations: $representations) { ... on ${type} { ${selected} } } }`,
    operationName: undefined,
    operationKind: 'query' as FetchNode['operationKind'], // graphql exports the enum as a type only
  };
}

function variablesIn(nodes: readonly (FieldNode | SelectionSetNode)[]): Set<string> {
  const names = new Set<string>();
  for (const node of nodes) visit(node, { Variable: ({ name }) => void names.add(name.value) });
  return names;
}

/** Drops the definitions of variables that are no longer used. */
function withSelections(operation: OperationDefinitionNode, selectionSet: SelectionSetNode): OperationDefinitionNode {
  const used = variablesIn([selectionSet]);
  const { variableDefinitions = [] } = operation;
  return {
    ...operation,
    selectionSet,
    variableDefinitions: variableDefinitions.filter(({ variable }) => used.has(variable.name.value)),
  };
}

function isSelected(selections: readonly SelectionNode[], name: string): boolean {
  return selections.some((each) => each.kind === Kind.FIELD && each.name.value === name && !each.alias);
}
