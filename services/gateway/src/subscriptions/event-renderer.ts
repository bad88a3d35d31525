import { unavailable } from '@taskmesh/errors';
import type { TaskChanged } from '@taskmesh/events';
import type { Clock } from '@taskmesh/service';
import { Kind, visit, type ASTNode } from 'graphql';
import pLimit from 'p-limit';
import type { ExecutorKind } from '../config.ts';
import type { FormatResult } from '../graph/client-result.ts';
import type { OperationResult, PreparedOperation, RequestCall, Resized } from '../graph/executor.ts';
import type { Graph } from '../graph/graph.ts';
import { perChange } from '../feed/per-change.ts';
import { toChangeEvent } from './change-event.ts';
import { compileProjection } from './projection.ts';
import { planSubscription, type SubscriptionPlan } from './subscription-plan.ts';

const EVENT_DEADLINE_MS = 10_000;
/** How long a service that foreign fields come from may be unavailable before the streams waiting for it end. */
const FOREIGN_PATIENCE_MS = 30_000;
const TRY_AGAIN_MS = 250;
/** Per document, so that a service is not overwhelmed when it comes back by everything that waited for it. */
const FOREIGN_AT_ONCE = 16;

/**
 * Writes a change as JSON: at once, or after asking other services. Rejects when one of them stays unavailable, or when
 * no caller wants the result any more, as their `isWaiting` tells.
 */
export type Render = (change: TaskChanged, isWaiting: () => boolean) => string | Promise<string>;

/** A document compiled for one graph. */
export interface EventRenderer {
  readonly operation: PreparedOperation;
  /** For one set of coerced variables. Equal sets share the work, and the JSON of each change. */
  withVariables(variables: Record<string, unknown>, call: RequestCall): Render;
  /** Takes over when the graph changes: events that wait for a service use the plan of `next` from then on. */
  followedBy(next: EventRenderer): void;
  /** For other renderings only. */
  readonly latestPlan: () => SubscriptionPlan | undefined;
}

export interface EventRendererDeps {
  clock: Clock;
  formatResult: FormatResult;
  executor: ExecutorKind;
  /** Called with the bytes that the renderer holds more or less than before. */
  resized?: Resized;
}

/** @throws when the document cannot be planned */
export function createEventRenderer(
  graph: Graph,
  operation: PreparedOperation,
  deps: EventRendererDeps,
): EventRenderer {
  const { supergraph, services } = graph;
  const project = compileProjection(supergraph.schema, operation, deps.resized);
  const renderAtOnce = project && perChange((change) => traced(project(toChangeEvent(change)), change));
  const plan = project ? undefined : planSubscription(operation, { supergraph, services, ...deps });
  const written = new WeakMap<TaskChanged, Map<string, string | Asked>>();
  const usedVariables = variablesOfEvents(operation);
  const atOnce = pLimit(FOREIGN_AT_ONCE);
  let follower: EventRenderer | undefined;
  const latestPlan = () => (follower ? follower.latestPlan() : plan);
  const planNow = () => {
    const now = latestPlan() ?? plan;
    if (!now) throw new Error('An event that no service is needed for asks one.');
    return now;
  };

  const ask = (
    change: TaskChanged,
    variables: Record<string, unknown>,
    call: RequestCall,
    readers: Asked['readers'],
  ) => {
    const run: EventRun = {
      change,
      planNow,
      variables,
      call,
      giveUpAt: deps.clock.now() + FOREIGN_PATIENCE_MS,
      isWanted: () => readers.some((isWaiting) => isWaiting()),
    };
    return atOnce(() => withForeignFields(deps.clock, run));
  };

  return {
    operation,
    withVariables(variables, call) {
      if (renderAtOnce) return renderAtOnce;
      const key = JSON.stringify(Object.fromEntries(usedVariables.map((name) => [name, variables[name]])));
      return (change, isWaiting) => {
        const byKey = written.get(change) ?? new Map<string, string | Asked>();
        written.set(change, byKey);
        const known = byKey.get(key);
        if (typeof known === 'string') return known;
        if (known) {
          known.readers.push(isWaiting);
          return known.text;
        }
        const readers = [isWaiting];
        const text = ask(change, variables, call, readers);
        byKey.set(key, { text, readers });
        text.then(
          (json) => byKey.set(key, json),
          () => byKey.delete(key), // the next reader asks again
        );
        return text;
      };
    },
    followedBy(next) {
      follower = next;
    },
    latestPlan,
  };
}

/** A rendering for which other services are being asked, and its waiting readers. */
interface Asked {
  text: Promise<string>;
  readers: (() => boolean)[];
}

/** The variables that affect an event's JSON: all except those used only in the root field's arguments. */
function variablesOfEvents({ document, operation }: PreparedOperation): string[] {
  const names = new Set<string>();
  const collect = (node: ASTNode) => visit(node, { Variable: ({ name }) => void names.add(name.value) });
  for (const selection of operation.selectionSet.selections)
    collect(selection.kind === Kind.FIELD ? { ...selection, arguments: [] } : selection);
  for (const definition of document.definitions) if (definition.kind === Kind.FRAGMENT_DEFINITION) collect(definition);
  return [...names];
}

interface EventRun {
  change: TaskChanged;
  planNow: () => SubscriptionPlan;
  variables: Record<string, unknown>;
  call: RequestCall;
  giveUpAt: number;
  isWanted: () => boolean;
}

/**
 * Waits for a service that is briefly unavailable. An event never goes out without that service's fields, even where
 * null is allowed, as null would mean that there is no value. The reader must be able to resume and get all of it.
 */
async function withForeignFields(clock: Clock, run: EventRun): Promise<string> {
  const { change, planNow, variables, call, giveUpAt, isWanted } = run;
  while (isWanted()) {
    const root = { taskChanges: toChangeEvent(change) };
    const request = { call: callFor(change, call), deadline: clock.now() + EVENT_DEADLINE_MS, mutation: false };
    const result = await planNow().run(root, variables, request);
    if (!lacksService(result)) return traced(JSON.stringify(result), change);
    if (clock.now() > giveUpAt) throw unavailable();
    await new Promise((resolve) => setTimeout(resolve, TRY_AGAIN_MS));
  }
  throw unavailable('Nobody waits for it any more.');
}

/** Requests for an event belong to the trace of the request that made the change. */
function callFor({ traceparent }: TaskChanged, call: RequestCall): RequestCall {
  return traceparent ? { ...call, traceparent } : call;
}

/** The trace is the change's, not the subscriber's, so the JSON is the same for all subscribers. */
function traced(result: string, { traceparent }: TaskChanged): string {
  return traceparent ? `${result.slice(0, -1)},"extensions":{"traceparent":${JSON.stringify(traceparent)}}}` : result;
}

function lacksService({ errors }: OperationResult): boolean {
  return errors?.some(({ extensions }) => extensions?.['code'] === 'SERVICE_UNAVAILABLE') ?? false;
}
