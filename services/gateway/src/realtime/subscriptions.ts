import { AppError, toGraphQLError, unauthenticated } from '@taskmesh/errors';
import type { TaskChanged } from '@taskmesh/events';
import type { Clock } from '@taskmesh/service';
import { getArgumentValues, getVariableValues, GraphQLError } from 'graphql';
import type { OperationResult, PreparedOperation, RequestCall } from '../graph/executor.ts';
import { concerns, toChangeEvent } from './change-event.ts';
import type { Feed } from './feed.ts';
import type { FeedEnd } from './owner-feed.ts';
import { compileProjection } from './projection.ts';
import { planSubscription, type PlanDeps, type SubscriptionPlan } from './subscription-plan.ts';
import type { TaskFilter } from './task-filter.ts';
import { createTurnstile, type Turnstile } from './turnstile.ts';

/** How many events may wait for what other services add to them before the reader counts as too slow. */
const WAITING_LIMIT = 1_000;
const EVENT_DEADLINE_MS = 10_000;
/** A service that foreign fields come from may be away for this long before an event goes out without them. */
const FOREIGN_PATIENCE_MS = 30_000;
/** Of one document: a service that comes back must not be buried under everything that waited for it. */
const FOREIGN_AT_ONCE = 16;

/** Why a stream ended that its client did not end. */
export type StreamEnd =
  /** For the client to read: the stream ends as the protocol has it. */
  | { kind: 'failed'; error: GraphQLError }
  /** The transport ends in a way that makes the client come back and resume: the client was too slow, or the gateway stops. */
  | { kind: 'slow' | 'stopped' };

/** Where a stream's events go. Neither function throws. */
export interface StreamSink {
  /** `json` is the whole result of the event, the same string for all equal streams. False: the client is too slow. */
  next(json: string, change: TaskChanged): boolean;
  end(end: StreamEnd): void;
  /** Resolves when what was written before is on its way to the client, so that a long replay does not run ahead of it. */
  drained(): Promise<void>;
}

export interface Subscriptions {
  /**
   * Runs `Subscription.taskChanges` for the call's user until the returned function is called, or the stream ends.
   * @throws GraphQLError when it cannot begin
   */
  subscribe(request: StreamRequest, sink: StreamSink): Promise<() => void>;
}

export interface StreamRequest {
  operation: PreparedOperation;
  variables: Record<string, unknown>;
  call: RequestCall;
  /** A position that the transport brought along; wins over the argument `after`. */
  after?: string;
}

interface Deps extends PlanDeps {
  feed: Feed;
  clock: Clock;
}

/** What is worked out once for a document. */
interface Prepared {
  /** Writes an event without asking anybody; undefined when it needs other services. */
  project: ReturnType<typeof compileProjection>;
  plan: SubscriptionPlan | undefined;
  /** Events that ask other services do it here. */
  inTurn: Turnstile;
}

/** Renders a change for one document and its variables: at once, or after asking other services. */
type Render = (change: TaskChanged) => string | Promise<string>;

export function createSubscriptions(deps: Deps): Subscriptions {
  const prepared = new WeakMap<PreparedOperation, Prepared>();
  /** What equal subscriptions of one owner share: each change is rendered once for all of them. */
  const rendered = new WeakMap<TaskChanged, Map<string, string | Promise<string>>>();

  const prepare = (operation: PreparedOperation): Prepared => {
    const known = prepared.get(operation);
    if (known) return known;
    const project = compileProjection(deps.supergraph.schema, operation);
    const fresh: Prepared = {
      project,
      plan: project ? undefined : planSubscription(operation, deps),
      inTurn: createTurnstile(FOREIGN_AT_ONCE),
    };
    prepared.set(operation, fresh);
    return fresh;
  };

  const shared =
    (key: string, render: Render): Render =>
    (change) => {
      const byKey = rendered.get(change) ?? new Map<string, string | Promise<string>>();
      rendered.set(change, byKey);
      const known = byKey.get(key);
      if (known !== undefined) return known;
      const fresh = render(change);
      byKey.set(key, fresh);
      return fresh;
    };

  return {
    async subscribe({ operation, variables, call, after }, sink) {
      const { identity } = call;
      if (identity.role !== 'user') throw toGraphQLError(unauthenticated());
      const args = readArguments(deps, operation, variables);
      const { project, plan, inTurn } = prepare(operation);
      const render = shared(renderingKey(operation, args.variables), (change) => {
        if (project) return project(toChangeEvent(change));
        if (!plan) return '';
        const run = { change, plan, variables: args.variables, call, giveUpAt: deps.clock.now() + FOREIGN_PATIENCE_MS };
        return inTurn(() => withForeignFields(deps, run));
      });
      return open(deps.feed, { owner: identity.userId, after: after ?? args.after, filter: args.filter, render, sink });
    },
  };
}

/** Equal for subscriptions that get the same for the same change, wherever in the feed they are. */
function renderingKey(
  { hash, operationName = '' }: PreparedOperation,
  { after: _position, ...variables }: Record<string, unknown>,
): string {
  return `${hash} ${operationName} ${JSON.stringify(variables)}`;
}

interface Arguments {
  after: string | undefined;
  filter: TaskFilter | undefined;
  /** All variables, coerced. */
  variables: Record<string, unknown>;
}

function readArguments(
  { supergraph: { schema } }: Deps,
  { operation }: PreparedOperation,
  raw: Record<string, unknown>,
): Arguments {
  const coerced = getVariableValues(schema, operation.variableDefinitions ?? [], raw, { maxErrors: 10 });
  if (coerced.errors) throw badInput(coerced.errors[0]);
  const field = schema.getSubscriptionType()?.getFields()['taskChanges'];
  const node = operation.selectionSet.selections.find((selection) => selection.kind === 'Field');
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

interface OpenStream {
  owner: string;
  after: string | undefined;
  filter: TaskFilter | undefined;
  render: Render;
  sink: StreamSink;
}

/** Hands changes to the sink in their order, also when some of them have to wait for other services. */
async function open(feed: Feed, { owner, after, filter, render, sink }: OpenStream): Promise<() => void> {
  let isOver = false;
  let detach = () => {};
  let waiting = 0;
  let tail = Promise.resolve();

  const over = (end?: StreamEnd) => {
    if (isOver) return;
    isOver = true;
    detach();
    if (end) sink.end(end);
  };
  const send = (json: string, change: TaskChanged) => {
    if (!isOver && !sink.next(json, change)) over({ kind: 'slow' });
  };
  const onChange = (change: TaskChanged) => {
    if (isOver || (filter && !concerns(change, filter))) return;
    const json = render(change);
    if (waiting === 0 && typeof json === 'string') return send(json, change);
    if (++waiting > WAITING_LIMIT) return over({ kind: 'slow' });
    tail = tail
      .then(async () => send(await json, change))
      .catch(() => over({ kind: 'stopped' })) // never told by a renderer; the client comes back with its cursor
      .finally(() => waiting--);
  };
  const onEnd = (reason: FeedEnd) => {
    void tail.then(() => over(reason === 'expired' ? { kind: 'failed', error: expired() } : { kind: 'stopped' }));
  };

  const drained = async () => {
    await tail;
    await sink.drained();
  };

  try {
    detach = await feed.subscribe(owner, after, { onChange, onEnd, drained });
  } catch (error) {
    throw error instanceof AppError ? toGraphQLError(error) : error;
  }
  if (isOver) detach();
  return () => over();
}

function expired(): GraphQLError {
  return toGraphQLError(new AppError('CURSOR_EXPIRED', 'The feed begins anew; read the list again.'));
}

interface EventRun {
  change: TaskChanged;
  plan: SubscriptionPlan;
  variables: Record<string, unknown>;
  call: RequestCall;
  giveUpAt: number;
}

/** An event must not be lost because a service that only adds to it is away for a moment: then it waits. */
async function withForeignFields(
  { clock }: Deps,
  { change, plan, variables, call, giveUpAt }: EventRun,
): Promise<string> {
  for (;;) {
    const root = { taskChanges: toChangeEvent(change) };
    const run = { call, deadline: clock.now() + EVENT_DEADLINE_MS, mutation: false };
    const result = await plan.run(root, variables, run);
    if (!lacksService(result) || clock.now() > giveUpAt) return JSON.stringify(result);
    await new Promise((resolve) => setTimeout(resolve, 250));
  }
}

function lacksService({ errors }: OperationResult): boolean {
  return errors?.some(({ extensions }) => extensions?.['code'] === 'SERVICE_UNAVAILABLE') ?? false;
}
