import type { FetchNode, FlattenNode } from '@apollo/query-planner';
import { GRAPH_FIELDS } from '@taskmesh/contracts';
import {
  getNamedType,
  isObjectType,
  Kind,
  parse,
  print,
  visit,
  type FieldNode,
  type GraphQLObjectType,
  type GraphQLSchema,
  type OperationDefinitionNode,
  type SelectionNode,
  type SelectionSetNode,
} from 'graphql';

/** The fields that an event contains, by type; any other selected field has to be fetched. */
export const IN_THE_EVENT: Record<string, ReadonlySet<string>> = {
  TaskChange: new Set(['__typename', 'cursor', 'sequence', 'kind', 'task', 'previous', 'occurredAt']),
  Task: new Set(['__typename', 'owner', ...GRAPH_FIELDS]),
  User: new Set(['__typename', 'id']),
};

/** Entities that the root field's own service resolves by id. */
const ENTITIES = new Set(['Task', 'User']);
const KEY = ['__typename', 'id'];

export interface SplitFetch {
  /** The part that the event answers. */
  primary: FetchNode;
  /** What that service still has to be asked for, per object in the event. */
  others: FlattenNode[];
}

/**
 * The planner treats the event as an answer of the root field's service, with every field that the service has there.
 * Fields that the event lacks (`owner { tasks }`) are fetched by the object's key instead.
 */
export function splitPrimary(primary: FetchNode, schema: GraphQLSchema): SplitFetch {
  const document = parse(primary.operation, { noLocation: true });
  const operation = document.definitions.find((each) => each.kind === Kind.OPERATION_DEFINITION);
  const root = schema.getSubscriptionType();
  if (!operation || !root) return { primary, others: [] };
  const missing: { path: string[]; type: string; fields: FieldNode[] }[] = [];

  const keepCovered = (set: SelectionSetNode, type: GraphQLObjectType, path: string[]): SelectionSetNode => {
    const known = IN_THE_EVENT[type.name];
    const absent: FieldNode[] = [];
    const kept = set.selections.flatMap((selection): SelectionNode[] => {
      if (selection.kind === Kind.INLINE_FRAGMENT)
        return [{ ...selection, selectionSet: keepCovered(selection.selectionSet, type, path) }];
      if (selection.kind !== Kind.FIELD) return [selection]; // the planner's fetches have no named fragments
      if (known && !known.has(selection.name.value) && ENTITIES.has(type.name)) {
        absent.push(selection);
        return [];
      }
      const inner = getNamedType(type.getFields()[selection.name.value]?.type);
      if (!selection.selectionSet || !isObjectType(inner)) return [selection];
      const place = [...path, selection.alias?.value ?? selection.name.value];
      return [{ ...selection, selectionSet: keepCovered(selection.selectionSet, inner, place) }];
    });
    if (absent.length === 0) return { ...set, selections: kept };
    missing.push({ path, type: type.name, fields: absent });
    return { ...set, selections: [...kept, ...KEY.filter((name) => !isSelected(kept, name)).map(fieldNamed)] };
  };

  const selectionSet = keepCovered(operation.selectionSet, root, []);
  if (missing.length === 0) return { primary, others: [] };
  const covered = print({ ...document, definitions: [withSelections(operation, selectionSet)] });
  return {
    primary: { ...primary, operation: covered },
    others: missing.map(({ path, type, fields }) => ({
      kind: 'Flatten',
      path,
      node: entityFetch(primary.serviceName, operation, type, fields),
    })),
  };
}

function entityFetch(
  serviceName: string,
  { variableDefinitions = [] }: OperationDefinitionNode,
  type: string,
  fields: FieldNode[],
): FetchNode {
  const selected = fields.map((field) => print(field)).join(' ');
  const used = variablesIn(fields);
  const definitions = variableDefinitions.filter(({ variable }) => used.has(variable.name.value)).map(print);
  const variables = ['$representations: [_Any!]!', ...definitions].join(', ');
  return {
    kind: 'Fetch',
    serviceName,
    requires: [
      {
        kind: 'InlineFragment',
        typeCondition: type,
        selections: KEY.map((name) => ({ kind: 'Field', name })),
      },
    ],
    variableUsages: [...used],
    operation: `query(${variables}) { _entities(representations: $representations) { ... on ${type} { ${selected} } } }`,
    operationName: undefined,
    operationKind: 'query' as FetchNode['operationKind'], // graphql exports the enum as a type only
  };
}

function variablesIn(fields: FieldNode[]): Set<string> {
  const names = new Set<string>();
  for (const field of fields) visit(field, { Variable: ({ name }) => void names.add(name.value) });
  return names;
}

/** Drops the definitions of variables that are no longer used. */
function withSelections(operation: OperationDefinitionNode, selectionSet: SelectionSetNode): OperationDefinitionNode {
  const used = new Set<string>();
  visit(selectionSet, { Variable: ({ name }) => void used.add(name.value) });
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

function fieldNamed(value: string): FieldNode {
  return { kind: Kind.FIELD, name: { kind: Kind.NAME, value } };
}
