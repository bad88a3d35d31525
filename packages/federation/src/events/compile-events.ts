import {
  BREAK,
  type DocumentNode,
  execute,
  type ExecutionResult,
  type FieldNode,
  getOperationAST,
  type GraphQLSchema,
  isRequiredArgument,
  Kind,
  type OperationDefinitionNode,
  parse,
  TypeInfo,
  visit,
  visitWithTypeInfo,
} from 'graphql';
import type { AskSubgraph, SubgraphAnswer, SubgraphRequest } from '../execution/run.ts';
import { createFederatedExecutor, type Resized } from '../federated-executor.ts';
import type { OperationRequest, OperationResult } from '../run-operation.ts';
import type { PlannedGraph } from '../supergraph.ts';
import {
  type EventContents,
  isInEvent,
  ofItsService,
  planForEvents,
  senderOfEvent,
  splitPrimary,
} from './event-plan.ts';

/** Memory per character of a fetch that an event answers, once parsed. */
const PROJECTION_BYTES = 60;

/** An event as the value of the subscription's root field: `{ [root field]: event }`. */
export type EventRoot = Readonly<Record<string, unknown>>;

export interface CompileEventsOptions<Context> extends EventContents {
  /** Calls a service for fields that an event lacks. */
  ask: AskSubgraph<Context>;
  /** Necessary if the document has several operations. */
  operationName?: string | undefined;
  /** Called with the bytes of memory allocated or freed (negative), without the document's own. */
  resized?: Resized | undefined;
}

/**
 * Has `project` if events contain all that is selected, with any variables: it returns the result without any request.
 * Otherwise `run` returns it, with what services add. It rejects as `FederatedOperation.run` does.
 */
export type CompiledEvents<Context> =
  | { project: (root: EventRoot) => ExecutionResult }
  | { project?: undefined; run: (root: EventRoot, request: OperationRequest<Context>) => Promise<OperationResult> };

/** The executor's context for one event. */
interface EventContext<Context> {
  given: Context;
  root: EventRoot;
}

/**
 * Compiles a subscription whose events do not come from a service, but for example from a log. Each event is the root field's
 * value, as far as `fields` says; services are called for the other selected fields. The document must be valid for the graph's
 * schema. Whether and when its arguments let an event through is up to the caller. So is `Documents.settle`, without which events
 * are parsed again when combinations of conditions alternate, and planned again when many are in use.
 * @throws Error when the document has no such subscription, or when it cannot be planned
 */
export function compileEvents<Context>(
  graph: PlannedGraph,
  document: DocumentNode,
  options: CompileEventsOptions<Context>,
): CompiledEvents<Context> {
  const operation = getOperationAST(document, options.operationName);
  if (operation?.operation !== 'subscription') throw new Error('The document has no such subscription.');
  const project = compileWhole(graph.schema, document, operation, options);
  return project ? { project } : { run: compileRun(graph, document, options) };
}

/** Undefined when a field has to be fetched, or when a directive or a required argument may depend on variables. */
function compileWhole(
  schema: GraphQLSchema,
  document: DocumentNode,
  operation: OperationDefinitionNode,
  contents: EventContents,
): ((root: EventRoot) => ExecutionResult) | undefined {
  const [field, ...others] = operation.selectionSet.selections;
  if (field?.kind !== Kind.FIELD || others.length > 0) return undefined;
  const fragments = document.definitions.filter(({ kind }) => kind === Kind.FRAGMENT_DEFINITION);
  // The arguments decide which events there are, not what an event shows.
  const selectionSet = { ...operation.selectionSet, selections: [{ ...field, arguments: [] }] };
  const whole = { ...operation, variableDefinitions: [], selectionSet };
  const projected = { ...document, definitions: [whole, ...fragments] };
  const types = new TypeInfo(schema);
  const isProjected = ({ name }: FieldNode) =>
    isInEvent(contents, types.getParentType()?.name ?? '', name.value) &&
    !types.getFieldDef()?.args.some(isRequiredArgument);
  let isWhole = true;
  const leave = () => {
    isWhole = false;
    return BREAK;
  };
  visit(
    projected,
    visitWithTypeInfo(types, { Directive: leave, Field: (node) => (isProjected(node) ? undefined : leave()) }),
  );
  if (!isWhole) return undefined;
  return (rootValue) => execute({ schema, document: projected, rootValue }) as ExecutionResult; // synchronous without resolvers
}

/**
 * Plans a subscription once. @apollo/query-planner splits it into a primary fetch and the rest. Its executor refuses to
 * run that, but the same plan runs as a query whose first fetch is answered from the event.
 */
function compileRun<Context>(
  graph: PlannedGraph,
  document: DocumentNode,
  { ask, operationName, resized = () => undefined, ...contents }: CompileEventsOptions<Context>,
) {
  /** The last fetch that an event answered. A document with settled conditions has a single one. */
  let last: { text: string; document: DocumentNode } | undefined;
  const parsed = (text: string): DocumentNode => {
    if (last?.text === text) return last.document;
    resized(PROJECTION_BYTES * (text.length - (last?.text.length ?? 0)));
    last = { text, document: parse(text, { noLocation: true }) };
    return last.document;
  };
  /** Picks from an event what the primary fetch selects, under the client's aliases. */
  const answer = (service: string, { operation, variables: variableValues }: SubgraphRequest, rootValue: EventRoot) =>
    execute({
      schema: serviceSchema(graph, service),
      document: parsed(operation.text),
      rootValue,
      variableValues,
    }) as SubgraphAnswer; // synchronous without resolvers
  const plan = (planned: DocumentNode) =>
    planForEvents(graph.plan(planned), (primary) =>
      splitPrimary(primary, serviceSchema(graph, primary.serviceName), contents),
    );
  const executor = createFederatedExecutor<EventContext<Context>>({ ...graph, plan }, (request, { given, root }) => {
    const service = senderOfEvent(request.operation.service);
    return service === undefined ? ask(request, given) : Promise.resolve(answer(service, request, root));
  });
  const operation = executor.compile(document, operationName, resized);
  return async (root: EventRoot, { variables, context }: OperationRequest<Context>): Promise<OperationResult> => {
    const result = await operation.run({ variables, context: { given: context, root } });
    return result.errors.length === 0 ? result : { ...result, errors: result.errors.map(ofItsService) };
  };
}

const serviceSchemas = new WeakMap<PlannedGraph, Map<string, GraphQLSchema>>();

/** Building the schema costs more than a hundred events, so it is cached per service of a graph. */
function serviceSchema(graph: PlannedGraph, name: string): GraphQLSchema {
  const known = serviceSchemas.get(graph) ?? new Map<string, GraphQLSchema>();
  serviceSchemas.set(graph, known);
  const schema = known.get(name) ?? graph.planner.supergraph.subgraphs().get(name)?.schema.toGraphQLJSSchema();
  if (!schema) throw new Error(`The graph has no service ${name}.`);
  known.set(name, schema);
  return schema;
}
