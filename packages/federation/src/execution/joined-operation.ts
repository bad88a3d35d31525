import type { FetchNode } from '@apollo/query-planner';
import {
  Kind,
  parse,
  print,
  visit,
  type FieldNode,
  type NameNode,
  type OperationDefinitionNode,
  type VariableDefinitionNode,
} from 'graphql';

const ENTITIES = '_entities';
const REPRESENTATIONS = 'representations';

/** One fetch's part of a joined operation. */
export interface JoinedPart {
  /** The response key of its entities. */
  key: string;
  /** The name of the variable for its representations. */
  variable: string;
}

/** The operation of a fetch that can be joined: a query that selects only `_entities`. */
interface EntitiesQuery {
  definition: OperationDefinitionNode;
  field: FieldNode;
  /** The text of each variable definition, by name. */
  variables: ReadonlyMap<string, string>;
  /** Equal for fetches that request the same fields of any object. */
  fieldsKey: string;
}

const known = new WeakMap<FetchNode, { query: EntitiesQuery | undefined }>();

function entitiesQuery(node: FetchNode): EntitiesQuery | undefined {
  let found = known.get(node);
  if (!found) known.set(node, (found = { query: readEntitiesQuery(node) }));
  return found.query;
}

function readEntitiesQuery(node: FetchNode): EntitiesQuery | undefined {
  const { operation, operationKind, requires, inputRewrites = [], outputRewrites = [] } = node;
  if (!requires || operationKind !== 'query') return undefined;
  const [definition, ...others] = parse(operation, { noLocation: true }).definitions;
  if (definition?.kind !== Kind.OPERATION_DEFINITION || others.length > 0 || definition.directives?.length)
    return undefined;
  const [field, ...more] = definition.selectionSet.selections;
  const isAlone = field?.kind === Kind.FIELD && field.name.value === ENTITIES && !field.alias && more.length === 0;
  if (!isAlone) return undefined;
  const variables = new Map(definition.variableDefinitions?.map((each) => [each.variable.name.value, print(each)]));
  const fieldsKey = JSON.stringify([print(field), requires, inputRewrites, outputRewrites]);
  return { definition, field, variables, fieldsKey };
}

/** Whether two fetches can share a request: both only read entities of the same service, and their variables do not conflict. */
export function canBeJoined(one: FetchNode, other: FetchNode): boolean {
  if (one.serviceName !== other.serviceName) return false;
  const [first, second] = [entitiesQuery(one), entitiesQuery(other)];
  if (!first || !second) return false;
  return [...second.variables].every(([name, text]) => (first.variables.get(name) ?? text) === text);
}

const variablesOf = ({ definition }: EntitiesQuery): readonly VariableDefinitionNode[] =>
  definition.variableDefinitions ?? [];

/** Whether two fetches request the same fields of any object. */
export function requestsSameFields(one: FetchNode, other: FetchNode): boolean {
  const fieldsKey = entitiesQuery(one)?.fieldsKey;
  return fieldsKey !== undefined && fieldsKey === entitiesQuery(other)?.fieldsKey;
}

/** Joins fetches into one operation, each under its own response key. @throws Error when they cannot be joined */
export function joinOperations(nodes: readonly [FetchNode, ...FetchNode[]]): { text: string; parts: JoinedPart[] } {
  const [first, ...others] = nodes;
  if (others.length === 0) return { text: first.operation, parts: [{ key: ENTITIES, variable: REPRESENTATIONS }] };
  const queries = nodes.map((node) => {
    const query = entitiesQuery(node);
    if (!query) throw new Error('This fetch cannot be joined with others.');
    return query;
  });
  const taken = new Set(queries.flatMap((query) => variablesOf(query).map(({ variable }) => variable.name.value)));
  const parts = queries.map((_query, index) => partAt(index, taken));
  const variables = new Map<string, VariableDefinitionNode>();
  const selections = queries.map((query, index) => {
    const { key, variable } = parts[index] ?? partAt(index, taken);
    const renamed = (name: NameNode): NameNode =>
      name.value === REPRESENTATIONS ? { ...name, value: variable } : name;
    for (const each of variablesOf(query)) {
      const own = { ...each, variable: { ...each.variable, name: renamed(each.variable.name) } };
      variables.set(own.variable.name.value, own);
    }
    const alias = key === ENTITIES ? undefined : { kind: Kind.NAME as const, value: key };
    const field = visit(query.field, { Variable: (each) => ({ ...each, name: renamed(each.name) }) });
    return { ...field, alias };
  });
  const definition = queries[0]?.definition;
  const text = print({
    ...definition,
    kind: Kind.OPERATION_DEFINITION,
    operation: 'query' as OperationDefinitionNode['operation'],
    variableDefinitions: [...variables.values()],
    selectionSet: { kind: Kind.SELECTION_SET, selections },
  });
  return { text, parts };
}

/** The first part keeps its original names. */
function partAt(index: number, taken: Set<string>): JoinedPart {
  if (index === 0) return { key: ENTITIES, variable: REPRESENTATIONS };
  let variable = `${REPRESENTATIONS}_${index}`;
  while (taken.has(variable)) variable += '_';
  return { key: `${ENTITIES}_${index}`, variable };
}
