import { GraphQLError, getVariableValues, getOperationAST, type DocumentNode, type ExecutionResult } from 'graphql';
import { asGraphQLErrors } from './compiled-gateway.ts';
import { ofItsService, planForEvents, senderOfEvent } from './events/event-plan.ts';
import type { AskSubgraph, SubgraphAnswer, SubgraphRequest } from './execution/run.ts';
import { compileOnce, createFederatedExecutor, type FederatedOperation } from './federated-executor.ts';
import { settleConditions } from './operation/client-operation.ts';
import { readSupergraph } from './supergraph.ts';

export interface CompiledSubscriptionsOptions<Context> {
  /** The SDL of a composed supergraph, for example from `rover supergraph compose`. */
  supergraph: string;
  /** Calls a service for fields that an event lacks. */
  ask: AskSubgraph<Context>;
  /**
   * Opens a subscription at the service of the root field, for example over graphql-ws. When the client unsubscribes, `signal`
   * is aborted and the iterator's `return` is called. A generator's `return` waits for its pending step, so the step must heed
   * `signal`. An error thrown here becomes the last result.
   */
  subscribe: (request: SubgraphRequest, context: Context, signal: AbortSignal) => AsyncIterable<SubgraphAnswer>;
}

/** The relevant part of graphql-js's `ExecutionArgs`. The document must be valid for the API schema. */
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
 * Runs subscriptions on a federated graph: the root field's service sends events, and other services provide the fields that
 * they own. Returns a function that fits the `subscribe` option of graphql-ws and graphql-sse. Events are processed in order,
 * one at a time; a slow client delays only its own subscription.
 * @throws Error when the supergraph is not valid in Federation 2
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
    const compiled = compiledOf(settleConditions(document, variables.coerced), operation.name?.value);
    return results(
      (context) => compiled.run({ variables: variables.coerced, context }),
      contextValue as Context,
      options,
    );
  };
}

/** Yields one result per event. The plan's first fetch waits for the event; its request is also the subscription request. */
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
      if (state === 'open' && !events) return; // the root field is skipped
      const errors = asGraphQLErrors({ ...failures, errors: failures.errors.map(ofItsService) });
      yield errors.length > 0 ? { data, errors } : { data };
      if (state === 'failed') return;
    }
  })();
  /** Aborts first, because a generator's own `return` would wait for the next event. */
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
