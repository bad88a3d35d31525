import type { FetchNode, FlattenNode } from '@apollo/query-planner';
import { GRAPH_FIELDS } from '@taskmesh/contracts';
import {
  type AskSubgraph,
  createFederatedExecutor,
  MAX_VARIANTS,
  planForEvents,
  type PreparedOperation,
  type Resized,
  senderOfEvent,
  type SubgraphAnswer,
} from '@taskmesh/federation';
import {
  type DocumentNode,
  execute,
  type FieldNode,
  getNamedType,
  type GraphQLObjectType,
  type GraphQLSchema,
  isObjectType,
  Kind,
  type OperationDefinitionNode,
  parse,
  print,
  type SelectionNode,
  type SelectionSetNode,
  visit,
} from 'graphql';
import { LRUCache } from 'lru-cache';
import { asGraphQL, type FormatResult } from '../supergraph/client-errors.ts';
import { asEngineResult, createSubgraphCall, schedulePlanning } from '../supergraph/engines.ts';
import type { GraphSources, OperationResult, OperationRun } from '../supergraph/operation.ts';
import type { Supergraph } from '../supergraph/supergraph.ts';
import type { BlockingWork } from '../supergraph/blocking-work.ts';

/** Memory per character of a fetch that an event answers, once parsed. */
const PROJECTION_BYTES = 60;

/** Returns the result of one event; `root` is the root field's value. Fetches what the event lacks from services. Never rejects. */
export type SubscriptionPlan = (
  root: Record<string, unknown>,
  variables: Record<string, unknown>,
  run: OperationRun,
) => Promise<OperationResult>;

export interface PlanDeps {
  supergraph: Supergraph;
  services: GraphSources;
  formatResult: FormatResult;
  blockingWork: BlockingWork;
  onResize?: Resized;
}

/** The executor's context for one event. */
interface EventRunContext {
  run: OperationRun;
  /** The event's data, in answer to a fetch. */
  respond: (fetch: EventFetch) => SubgraphAnswer;
}

/**
 * Plans a subscription once. @apollo/query-planner splits it into a primary fetch and the rest. Its executor refuses to
 * run that, but runs the same plan as a query whose first fetch is answered from the event.
 */
export function planSubscription(
  { document, operationName }: PreparedOperation,
  { supergraph, services, formatResult, blockingWork, onResize = () => undefined }: PlanDeps,
): SubscriptionPlan {
  const callSubgraph = createSubgraphCall(services);
  /** By the text of the fetch: each combination of @skip and @include values has its own. */
  const projections = new LRUCache<string, Project>({
    max: MAX_VARIANTS,
    onInsert: (_project, text) => onResize(PROJECTION_BYTES * text.length),
    dispose: (_project, text) => onResize(-PROJECTION_BYTES * text.length),
  });
  const projectionOf = (fetch: EventFetch): Project => {
    const known = projections.get(fetch.operation);
    if (known) return known; // setting it again would count it again
    const project = projection(supergraph, fetch);
    projections.set(fetch.operation, project);
    return project;
  };
  const plan = (planned: DocumentNode) =>
    planForEvents(supergraph.plan(planned), (primary) =>
      splitPrimary(primary, serviceSchema(supergraph, primary.serviceName)),
    );
  const fetchOrProject: AskSubgraph<EventRunContext> = (request, context) => {
    const { service, text } = request.operation;
    const serviceName = senderOfEvent(service);
    return serviceName === undefined
      ? callSubgraph(request, context.run)
      : Promise.resolve(context.respond({ serviceName, operation: text }));
  };
  const schedule = schedulePlanning(blockingWork);
  const executor = createFederatedExecutor({ ...supergraph, plan }, fetchOrProject, ({ run }, work) =>
    schedule(run, work),
  );
  const operation = executor.compile(document, operationName, onResize);
  return async (root, variables, run) => {
    const respond = (fetch: EventFetch) => projectionOf(fetch)(root, variables);
    const result = await operation
      .run({ variables, context: { run, respond } })
      .then(asEngineResult, (error: unknown) => ({ data: null, errors: [asGraphQL(error)] }));
    return formatResult(result, run.call.requestId);
  };
}

/** A fetch that is answered from the event. */
type EventFetch = Pick<FetchNode, 'serviceName' | 'operation'>;

type Project = ReturnType<typeof projection>;

/** Picks from an event what the primary fetch selects, under the client's aliases. */
function projection(supergraph: Supergraph, { serviceName, operation }: EventFetch) {
  const schema = serviceSchema(supergraph, serviceName);
  const document = parse(operation, { noLocation: true });
  return (root: Record<string, unknown>, variableValues: Record<string, unknown>) =>
    execute({ schema, document, rootValue: root, variableValues }) as { data: Record<string, unknown> }; // synchronous without resolvers
}

const serviceSchemas = new WeakMap<Supergraph, Map<string, GraphQLSchema>>();

/** Building the schema costs more than a hundred events, so it is cached per service of a graph. */
function serviceSchema(supergraph: Supergraph, name: string): GraphQLSchema {
  const known = serviceSchemas.get(supergraph) ?? new Map<string, GraphQLSchema>();
  serviceSchemas.set(supergraph, known);
  let schema = known.get(name);
  if (!schema) {
    schema = supergraph.planner.supergraph.subgraphs().get(name)?.schema.toGraphQLJSSchema();
    if (!schema) throw new Error(`The graph has no service ${name}.`);
    known.set(name, schema);
  }
  return schema;
}

/** The fields that an event contains, by type; any other selected field has to be fetched. */
export const EVENT_FIELDS: Record<string, ReadonlySet<string>> = {
  Subscription: new Set(['taskChanges']),
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
  /** The fetches that the same service still has to answer, per object in the event. */
  others: FlattenNode[];
}

/**
 * The planner treats the event as a response of the root field's service, with every field that the service has there.
 * Fields that the event lacks (`owner { tasks }`) are fetched by the object's key instead.
 */
function splitPrimary(primary: FetchNode, schema: GraphQLSchema): SplitFetch {
  const document = parse(primary.operation, { noLocation: true });
  const operation = document.definitions.find((each) => each.kind === Kind.OPERATION_DEFINITION);
  const root = schema.getSubscriptionType();
  if (!operation || !root) return { primary, others: [] };
  const missing: { path: string[]; type: string; fields: FieldNode[] }[] = [];

  const keepCovered = (set: SelectionSetNode, type: GraphQLObjectType, path: string[]): SelectionSetNode => {
    const known = EVENT_FIELDS[type.name];
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
