import { AppError, toGraphQLError, unauthenticated, unavailable } from '@taskmesh/errors';
import type { TaskChanged } from '@taskmesh/events';
import type { Clock } from '@taskmesh/service';
import { getArgumentValues, getVariableValues, GraphQLError, type FieldNode, type SelectionSetNode } from 'graphql';
import type { OperationResult, PreparedOperation, RequestCall } from '../graph/executor.ts';
import { BoundedQueue } from './bounded-queue.ts';
import { concerns, toChangeEvent } from './change-event.ts';
import type { Feed } from './feed.ts';
import type { FeedEnd } from './owner-feed.ts';
import { planSubscription, type PlanDeps, type SubscriptionPlan } from './subscription-plan.ts';
import type { TaskFilter } from './task-filter.ts';

/** How far a reader may fall behind before its stream ends. */
const QUEUE_LIMIT = 1_000;
const EVENT_DEADLINE_MS = 10_000;
/** A service that foreign fields come from may be away for this long before an event goes out without them. */
const FOREIGN_PATIENCE_MS = 30_000;

/** The reader is too slow: its transport closes in a way that makes the client come back and resume. */
export class TooSlow extends Error {
  override readonly name = 'TooSlow';
}

/** The gateway stops: clients come back to another one. */
export class Draining extends Error {
  override readonly name = 'Draining';
}

export interface Subscriptions {
  /**
   * Runs `Subscription.taskChanges` for the call's user. The iteration throws a GraphQLError when the stream ends for a
   * reason the client should know, TooSlow or Draining when its transport should end.
   * @throws GraphQLError when it cannot begin
   */
  subscribe(
    operation: PreparedOperation,
    variables: Record<string, unknown>,
    call: RequestCall,
  ): Promise<AsyncIterableIterator<OperationResult>>;
}

interface Deps extends PlanDeps {
  feed: Feed;
  clock: Clock;
}

export function createSubscriptions(deps: Deps): Subscriptions {
  const plans = new WeakMap<PreparedOperation, SubscriptionPlan>();

  const planOf = (operation: PreparedOperation): SubscriptionPlan => {
    const plan = plans.get(operation) ?? planSubscription(operation, deps);
    plans.set(operation, plan);
    return plan;
  };

  return {
    async subscribe(operation, variables, call) {
      const { identity } = call;
      if (identity.role !== 'user') throw toGraphQLError(unauthenticated());
      const args = readArguments(deps, operation, variables);
      const plan = planOf(operation);
      const changes = await open(deps.feed, identity.userId, args);
      return results(changes, (change) => resultFor(deps, { change, plan, variables: args.variables, call }));
    },
  };
}

interface Arguments {
  after: string | undefined;
  filter: TaskFilter | undefined;
  /** All variables, coerced. */
  variables: Record<string, unknown>;
}

function readArguments({ supergraph: { schema } }: Deps, { operation }: PreparedOperation, raw: Record<string, unknown>): Arguments {
  const coerced = getVariableValues(schema, operation.variableDefinitions ?? [], raw, { maxErrors: 10 });
  if (coerced.errors) throw badInput(coerced.errors[0]);
  const field = schema.getSubscriptionType()?.getFields()['taskChanges'];
  const node = rootField(operation.selectionSet);
  if (!field || node?.name.value !== 'taskChanges')
    throw new GraphQLError('Only taskChanges can be subscribed to, selected as a field of its own.', {
      extensions: { code: 'GRAPHQL_VALIDATION_FAILED' },
    });
  const { after, filter } = getArgumentValues(field, node, coerced.coerced);
  return {
    after: typeof after === 'string' ? after : undefined,
    filter: filter ? (filter as TaskFilter) : undefined, // coerced by the schema
    variables: coerced.coerced,
  };
}

function badInput(error: GraphQLError | undefined): GraphQLError {
  return new GraphQLError(error?.message ?? 'Bad variables.', { extensions: { code: 'BAD_USER_INPUT' } });
}

/** Validation lets exactly one root field through; a fragment around it is rare enough to be refused. */
function rootField({ selections }: SelectionSetNode): FieldNode | undefined {
  return selections.find((selection) => selection.kind === 'Field');
}

/** The owner's changes as an iteration that never holds the feed up. */
async function open(feed: Feed, owner: string, { after, filter }: Arguments): Promise<BoundedQueue<TaskChanged>> {
  let detach = () => {};
  const queue = new BoundedQueue<TaskChanged>(QUEUE_LIMIT, () => detach());
  const reader = {
    onChange(change: TaskChanged) {
      if (filter && !concerns(change, filter)) return;
      if (queue.push(change)) return;
      detach();
      queue.abort(new TooSlow());
    },
    onEnd: (reason: FeedEnd) => queue.fail(reason === 'expired' ? expired() : new Draining()),
  };
  try {
    detach = await feed.subscribe(owner, after, reader);
  } catch (error) {
    throw error instanceof AppError ? toGraphQLError(error) : error;
  }
  return queue;
}

function expired(): GraphQLError {
  return toGraphQLError(new AppError('CURSOR_EXPIRED', 'The feed begins anew; read the list again.'));
}

/** One result for each change, in order. Ending the iteration ends the reading, also while a result is being made. */
function results(
  changes: BoundedQueue<TaskChanged>,
  resultOf: (change: TaskChanged) => Promise<OperationResult>,
): AsyncIterableIterator<OperationResult> {
  return {
    async next() {
      const change = await changes.next();
      return change.done ? change : { done: false, value: await resultOf(change.value) };
    },
    async return() {
      await changes.return();
      return { done: true, value: undefined };
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}

interface EventRun {
  change: TaskChanged;
  plan: SubscriptionPlan;
  variables: Record<string, unknown>;
  call: RequestCall;
}

/** An event must not be lost because a service that only adds to it is away for a moment: then it waits. */
async function resultFor({ clock }: Deps, { change, plan, variables, call }: EventRun): Promise<OperationResult> {
  const giveUpAt = clock.now() + FOREIGN_PATIENCE_MS;
  for (;;) {
    const root = { taskChanges: toChangeEvent(change) };
    const run = { call, deadline: clock.now() + EVENT_DEADLINE_MS, mutation: false };
    const result = await plan.run(root, variables, run);
    const isAway = result.errors?.some(({ extensions }) => extensions?.['code'] === unavailable().code);
    if (!isAway || clock.now() > giveUpAt) return result;
    await new Promise((resolve) => setTimeout(resolve, 250));
  }
}
