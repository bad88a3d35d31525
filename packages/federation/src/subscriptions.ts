import type { PlanNode, QueryPlan, SubscriptionNode } from '@apollo/query-planner';
import { GraphQLError, getVariableValues, getOperationAST, type DocumentNode, type ExecutionResult } from 'graphql';
import { asGraphQLErrors } from './compiled-gateway.ts';
import type { FederatedOperation } from './compile-operation.ts';
import type { AskSubgraph, ServiceError, SubgraphAnswer, SubgraphRequest } from './execution/run.ts';
import { compileOnce, createFederatedExecutor } from './federated-executor.ts';
import { readSupergraph } from './supergraph.ts';

/** Before the name of a service, in plans: not the service is asked, but the event that it sent. */
const EVENT = '__event__';

/** Of a fetch that an event answers: the service that sent it; undefined for all other fetches. */
export function senderOfEvent(service: string): string | undefined {
  return service.startsWith(EVENT) ? service.slice(EVENT.length) : undefined;
}

/**
 * The plan of a subscription as one of a query, whose first fetch is answered by an event (`senderOfEvent`); the rest asks
 * other services for what the event lacks.
 * @param split what of the first fetch the event has, and what has to be fetched as well. @default it has all
 */
export function planForEvents(
  { node }: QueryPlan,
  split: (primary: SubscriptionNode['primary']) => { primary: SubscriptionNode['primary']; others: PlanNode[] } = (
    primary,
  ) => ({ primary, others: [] }),
): QueryPlan {
  if (node?.kind !== 'Subscription') throw new Error('The planner did not plan a subscription.');
  const { primary, others } = split(node.primary);
  const nodes: PlanNode[] = [{ ...primary, serviceName: EVENT + primary.serviceName }];
  if (others.length > 0) nodes.push({ kind: 'Parallel', nodes: others });
  if (node.rest) nodes.push(node.rest);
  return { kind: 'QueryPlan', node: { kind: 'Sequence', nodes } };
}

export interface CompiledSubscriptionsOptions<Context> {
  /** The SDL of a composed supergraph, such as `rover supergraph compose` writes. */
  supergraph: string;
  /** Calls a service for fields that an event lacks. */
  ask: AskSubgraph<Context>;
  /**
   * Opens a subscription at the service of the root field, over graphql-ws for example. When the client leaves, `signal`
   * is aborted and `return` called, which in a generator waits until the signal has ended what it waits for. What it throws
   * becomes the last result.
   */
  subscribe: (request: SubgraphRequest, context: Context, signal: AbortSignal) => AsyncIterable<SubgraphAnswer>;
}

/** What of graphql-js's `ExecutionArgs` counts. The document must be valid for the API schema. */
export interface SubscribeArgs {
  document: DocumentNode;
  operationName?: string | null | undefined;
  variableValues?: Readonly<Record<string, unknown>> | null | undefined;
  contextValue?: unknown;
}

interface EventContext<Context> {
  given: Context;
  nextEvent: (request: SubgraphRequest) => Promise<SubgraphAnswer>;
}

/**
 * Subscriptions over a federated graph: the root field's service sends events, and other services are asked for what they
 * own of each. The function that is returned fits the `subscribe` of graphql-ws and graphql-sse. Events are
 * rendered one after the other, in their order; a client that reads slowly holds its own subscription back.
 * @throws Error when it is not a valid supergraph of Federation 2
 */
export function compiledSubscriptions<Context>(options: CompiledSubscriptionsOptions<Context>) {
  const graph = readSupergraph(options.supergraph);
  const plan = (document: DocumentNode) => planForEvents(graph.plan(document));
  const executor = createFederatedExecutor<EventContext<Context>>({ ...graph, plan }, (request, context) => {
    const service = senderOfEvent(request.operation.service);
    if (service === undefined) return options.ask(request, context.given);
    return context.nextEvent({ ...request, operation: { ...request.operation, service } });
  });
  const compiledOf = compileOnce(executor);

  return async function subscribe(
    args: SubscribeArgs,
  ): Promise<AsyncGenerator<ExecutionResult, void> | ExecutionResult> {
    const { document, operationName, variableValues, contextValue } = args;
    const operation = getOperationAST(document, operationName);
    if (operation?.operation !== 'subscription')
      return { errors: [new GraphQLError('The document has no such subscription.')] };
    const variables = getVariableValues(graph.schema, operation.variableDefinitions ?? [], variableValues ?? {});
    if (variables.errors) return { errors: variables.errors };
    const compiled = compiledOf(document, operation.name?.value);
    return results(
      (context) => compiled.run({ variables: variables.coerced, context }),
      contextValue as Context,
      options,
    );
  };
}

/** One result for each event. The plan itself asks for the event, and with that says how to subscribe. */
function results<Context>(
  run: (context: EventContext<Context>) => ReturnType<FederatedOperation<EventContext<Context>>['run']>,
  given: Context,
  { subscribe }: CompiledSubscriptionsOptions<Context>,
): AsyncGenerator<ExecutionResult, void> {
  const leaving = new AbortController();
  let events: AsyncIterator<SubgraphAnswer> | undefined;
  let state = 'open' as 'open' | 'ended' | 'failed';
  const nextEvent = async (request: SubgraphRequest): Promise<SubgraphAnswer> => {
    try {
      leaving.signal.throwIfAborted();
      events ??= subscribe(request, given, leaving.signal)[Symbol.asyncIterator]();
      const { done, value } = await events.next();
      if (!done) return value;
    } catch (error) {
      state = 'failed';
      if (!leaving.signal.aborted) throw error;
    }
    if (state === 'open') state = 'ended';
    return { data: null };
  };
  const rendered = (async function* () {
    for (;;) {
      const { data, ...failures } = await run({ given, nextEvent });
      if (state === 'ended' || leaving.signal.aborted) return;
      const errors = asGraphQLErrors({ ...failures, errors: failures.errors.map(ofItsService) });
      yield errors.length > 0 ? { data, errors } : { data };
      if (state === 'failed') return;
    }
  })();
  /** A generator's own `return` would wait for the next event. */
  const leave = async () => {
    leaving.abort();
    await events?.return?.();
    return rendered.return();
  };
  return {
    next: () => rendered.next(),
    return: leave,
    throw: async (error) => {
      await leave();
      throw error;
    },
    [Symbol.asyncIterator]() {
      return this;
    },
    [Symbol.asyncDispose]: async () => void (await leave()),
  };
}

/** With the service's name in place of that of its events. */
function ofItsService({ message, service, ...error }: ServiceError): ServiceError {
  return { ...error, message: message.replaceAll(EVENT, ''), service: senderOfEvent(service) ?? service };
}
