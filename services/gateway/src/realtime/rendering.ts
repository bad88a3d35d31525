import type { TaskChanged } from '@taskmesh/events';
import type { Clock } from '@taskmesh/service';
import type { OperationResult, PreparedOperation, RequestCall } from '../graph/executor.ts';
import type { Graph } from '../graph/graph.ts';
import { toChangeEvent } from './change-event.ts';
import { compileProjection } from './projection.ts';
import { createTurnstile } from './turnstile.ts';
import { planSubscription, type FormatErrors, type SubscriptionPlan } from './subscription-plan.ts';

const EVENT_DEADLINE_MS = 10_000;
/** A service that foreign fields come from may be away for this long before an event goes out without them. */
const FOREIGN_PATIENCE_MS = 30_000;
const TRY_AGAIN_MS = 250;
/** Of one document: a service that comes back must not be buried under everything that waited for it. */
const FOREIGN_AT_ONCE = 16;

/** Writes a change as JSON: at once, or after asking other services. */
export type Render = (change: TaskChanged) => string | Promise<string>;

/** A document on one graph, worked out once. */
export interface Rendering {
  readonly operation: PreparedOperation;
  /** For one set of variables, coerced. Equal sets share the work and the text of each change. */
  withVariables(variables: Record<string, unknown>, call: RequestCall): Render;
  /** Its document on a newer graph: events that wait for a service are asked for by that plan from now on. */
  followedBy(next: Rendering): void;
  /** Only a rendering looks into another one. */
  readonly latestPlan: () => SubscriptionPlan | undefined;
}

export interface RenderingDeps {
  clock: Clock;
  formatErrors: FormatErrors;
}

/** @throws when the document cannot be planned */
export function createRendering(graph: Graph, operation: PreparedOperation, deps: RenderingDeps): Rendering {
  const { supergraph, services } = graph;
  const project = compileProjection(supergraph.schema, operation);
  const plan = project ? undefined : planSubscription(operation, { supergraph, services, ...deps });
  const written = new WeakMap<TaskChanged, Map<string, string | Promise<string>>>();
  const inTurn = createTurnstile(FOREIGN_AT_ONCE);
  let follower: Rendering | undefined;
  const latestPlan = () => (follower ? follower.latestPlan() : plan);

  const afterAsking = (change: TaskChanged, variables: Record<string, unknown>, call: RequestCall) => {
    const giveUpAt = deps.clock.now() + FOREIGN_PATIENCE_MS;
    const planNow = () => latestPlan() ?? plan;
    return inTurn(() => withForeignFields(deps.clock, { change, planNow, variables, call, giveUpAt }));
  };

  return {
    operation,
    withVariables(variables, call) {
      const key = variablesKey(variables);
      return (change) => {
        const byKey = written.get(change) ?? new Map<string, string | Promise<string>>();
        written.set(change, byKey);
        const known = byKey.get(key);
        if (known !== undefined) return known;
        const fresh = project ? traced(project(toChangeEvent(change)), change) : afterAsking(change, variables, call);
        byKey.set(key, fresh);
        return fresh;
      };
    },
    followedBy(next) {
      follower = next;
    },
    latestPlan,
  };
}

/** Equal for subscriptions that get the same for the same change, wherever in the feed they are. */
function variablesKey({ after: _position, ...variables }: Record<string, unknown>): string {
  return JSON.stringify(variables);
}

interface EventRun {
  change: TaskChanged;
  planNow: () => SubscriptionPlan | undefined;
  variables: Record<string, unknown>;
  call: RequestCall;
  giveUpAt: number;
}

/** An event must not be lost because a service that only adds to it is away for a moment: then it waits. */
async function withForeignFields(clock: Clock, run: EventRun): Promise<string> {
  const { change, planNow, variables, call, giveUpAt } = run;
  for (;;) {
    const root = { taskChanges: toChangeEvent(change) };
    const request = { call: callFor(change, call), deadline: clock.now() + EVENT_DEADLINE_MS, mutation: false };
    const result = (await planNow()?.run(root, variables, request)) ?? { data: null };
    if (!lacksService(result) || clock.now() > giveUpAt) return traced(JSON.stringify(result), change);
    await new Promise((resolve) => setTimeout(resolve, TRY_AGAIN_MS));
  }
}

/** What is asked for an event belongs to the trace of the request that made the change. */
function callFor({ traceparent }: TaskChanged, call: RequestCall): RequestCall {
  return traceparent ? { ...call, traceparent } : call;
}

/** The trace is the change's, not the subscriber's: so the text stays the same for all of them. */
function traced(result: string, { traceparent }: TaskChanged): string {
  return traceparent ? `${result.slice(0, -1)},"extensions":{"traceparent":${JSON.stringify(traceparent)}}}` : result;
}

function lacksService({ errors }: OperationResult): boolean {
  return errors?.some(({ extensions }) => extensions?.['code'] === 'SERVICE_UNAVAILABLE') ?? false;
}
