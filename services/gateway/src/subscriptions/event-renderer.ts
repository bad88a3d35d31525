import { unavailable, type TaskChanged } from '@taskmesh/contracts';
import { compileEvents, type PreparedOperation, type Resized } from '@taskmesh/federation';
import { createFairQueue, networkOf } from '@taskmesh/service';
import { Kind, visit, type ASTNode } from 'graphql';
import { LRUCache } from 'lru-cache';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { FormatResult } from '../supergraph/client-errors.ts';
import { asEngineResult, createSubgraphCall } from '../supergraph/engines.ts';
import type { OperationResult, OperationRun, RequestCall } from '../supergraph/operation.ts';
import type { Graph } from '../supergraph/live-graph.ts';
import type { LargeResponses } from '../supergraph/large-responses.ts';
import { EVENT_CONTENTS, toEventRoot } from './change-event.ts';

const EVENT_DEADLINE_MS = 10_000;
/** How long a service that provides foreign fields may be unavailable before the streams that wait for it end. */
const FOREIGN_PATIENCE_MS = 30_000;
const TRY_AGAIN_MS = 250;
/** How much is written in one turn of the event loop; further events wait for later turns. */
const MAX_CHARACTERS_PER_TICK = 512 * 1024;
/** A frame per reader costs as much as writing this many characters. */
const FRAME_CHARACTERS = 1_000;
/** Limit for finished texts of all documents together. */
const MAX_FINISHED_CHARACTERS = 8 * 1024 * 1024;
/** Per document, so that a service that comes back is not overwhelmed by everything that waited for it. */
const MAX_CONCURRENT_FETCHES = 16;

/**
 * Writes a change as JSON: at once, or after requests to other services. Rejects when one of them stays unavailable, or
 * when no caller waits for the result any more, as their `isWaiting` reports.
 */
export type Render = (change: TaskChanged, isWaiting: () => boolean) => string | Promise<string>;

export type RunLimited = <Result>(work: () => Promise<Result>) => Promise<Result>;

/** A document compiled for one graph, whose conditions are settled. */
export interface EventRenderer {
  readonly operation: PreparedOperation;
  /** Equal for all renderers and coerced variables that write the same JSON. */
  keyOf(variables: Record<string, unknown>): string;
  /**
   * For one set of coerced variables. Equal sets share the work, and the JSON of each change. `runLimited` runs the work of
   * each event.
   */
  withVariables(variables: Record<string, unknown>, call: RequestCall, runLimited: RunLimited): Render;
}

export interface EventRendererDeps {
  formatResult: FormatResult;
  largeResponses: LargeResponses;
  /** Called with the change in the bytes that the renderer holds. */
  onResize?: Resized;
}

/** The result of one event, with what the event lacks from services. */
type ResultOf = (
  change: TaskChanged,
  variables: Record<string, unknown>,
  run: OperationRun,
) => Promise<OperationResult>;

/** @throws when the document cannot be planned */
export function createEventRenderer(
  graph: Graph,
  operation: PreparedOperation,
  deps: EventRendererDeps,
): EventRenderer {
  const { supergraph, services } = graph;
  const usedVariables = variablesOfEvents(operation);
  const keyOf = (variables: Record<string, unknown>) =>
    JSON.stringify(Object.fromEntries(usedVariables.map((name) => [name, variables[name]])));
  const document = {
    operation,
    keyOf: (variables: Record<string, unknown>) => JSON.stringify([operation.id, keyOf(variables)]),
  };

  const written = new WeakMap<TaskChanged, Texts>();
  const textsOf = (change: TaskChanged): Texts => {
    const texts = written.get(change) ?? new Map<string, string | PendingText>();
    written.set(change, texts);
    return texts;
  };

  const events = compileEvents<OperationRun>(supergraph, operation.document, {
    ...EVENT_CONTENTS,
    operationName: operation.operationName,
    ask: createSubgraphCall(services),
    resized: deps.onResize,
  });
  if (events.project) {
    const render = (change: TaskChanged): string => {
      const texts = textsOf(change);
      const known = texts.get('') as string | undefined; // a projection never waits
      return known ?? keepFinished(texts, '', traced(JSON.stringify(events.project(toEventRoot(change))), change));
    };
    return {
      ...document,
      withVariables: (_variables, _call, runLimited) => (change) => {
        if (hasRoomInTick()) return countInTick(render(change));
        return runLimited(async () => {
          await nextTurn();
          return countInTick(render(change));
        });
      },
    };
  }

  const resultOf: ResultOf = (change, variables, run) =>
    deps.largeResponses.run(run.call, async (reserveLarge) => {
      const result = await events.run(toEventRoot(change), { variables, context: { ...run, reserveLarge } });
      return deps.formatResult(asEngineResult(result), run.call.requestId);
    });
  const fetches = createFairQueue({ concurrency: MAX_CONCURRENT_FETCHES, maxWaiting: Infinity, refusal: unavailable });
  return {
    ...document,
    withVariables(variables, call, runLimited) {
      const [key, network, cost] = [keyOf(variables), networkOf(call.ip), operation.cost(variables)];
      // The account's limit comes first: an account with many events must not take slots from others with the same document.
      const runInBoth: RunLimited = (work) => runLimited(() => fetches.run(network, work));
      return (change, isWaiting) => {
        const reader = { isWaiting, call };
        const texts = textsOf(change);
        const known = texts.get(key);
        if (typeof known === 'string') return waitForTick(known, isWaiting);
        if (known) {
          known.readers.push(reader);
          return forReader(known.text, isWaiting);
        }
        const readers = [reader];
        const text = withForeignFields({ change, resultOf, variables, cost, runLimited: runInBoth, readers });
        texts.set(key, { text, readers });
        text.then(
          (json) => keepFinished(texts, key, json),
          () => texts.delete(key), // the next reader tries again
        );
        return forReader(text, isWaiting);
      };
    },
  };
}

/** A document's texts of one change, by the variables that affect them. */
type Texts = Map<string, string | PendingText>;

/** Equal streams use a finished text in quick succession, but a change, with the texts of many documents, may wait for long. */
const finished = new LRUCache<object, { texts: WeakRef<Texts>; key: string; characters: number }>({
  maxSize: MAX_FINISHED_CHARACTERS,
  sizeCalculation: ({ characters }) => FRAME_CHARACTERS + characters,
  dispose: ({ texts, key }) => texts.deref()?.delete(key),
});

function keepFinished(texts: Texts, key: string, json: string): string {
  texts.set(key, json);
  finished.set({}, { texts: new WeakRef(texts), key, characters: json.length });
  return json;
}

let charactersInTick = 0;

const hasRoomInTick = () => charactersInTick < MAX_CHARACTERS_PER_TICK;

function countInTick(text: string): string {
  if (charactersInTick === 0) setImmediate(beginTick);
  charactersInTick += text.length + FRAME_CHARACTERS;
  return text;
}

/** What readers do at their turn, first come first. */
const waitingForTick = new Set<() => void>();

function beginTick(): void {
  charactersInTick = 0;
  for (const resume of waitingForTick) {
    if (!hasRoomInTick()) return;
    waitingForTick.delete(resume);
    resume();
  }
}

/** Each reader of an equal event writes a frame of its own. */
function forReader(text: Promise<string>, isWaiting: () => boolean): Promise<string> {
  const own = text.then((json) => waitForTick(json, isWaiting));
  own.catch(() => undefined); // its stream handles the error when the events before it are sent, or never
  return own;
}

function waitForTick(text: string, isWaiting: () => boolean): string | Promise<string> {
  const take = () => (isWaiting() ? countInTick(text) : text);
  if (hasRoomInTick()) return take();
  return new Promise((resolve) => waitingForTick.add(() => resolve(take())));
}

/** A rendering that waits for other services, and its waiting readers. */
interface PendingText {
  text: Promise<string>;
  readers: Reader[];
}

interface Reader {
  isWaiting: () => boolean;
  call: RequestCall;
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
  resultOf: ResultOf;
  variables: Record<string, unknown>;
  cost: number;
  runLimited: RunLimited;
  readers: Reader[];
}

/**
 * Waits for a service that is briefly unavailable. An event is never sent without that service's fields, even where
 * null is allowed, because null would mean that there is no value. The reader must be able to resume and get all of it.
 */
async function withForeignFields({ runLimited, readers, ...run }: EventRun): Promise<string> {
  const giveUpAtMs = performance.now() + FOREIGN_PATIENCE_MS;
  for (;;) {
    const reader = readers.find(({ isWaiting }) => isWaiting());
    if (!reader) throw unavailable('No one is waiting for it.');
    const text = await runLimited(async () => (reader.isWaiting() ? tryOnce(run, reader) : undefined));
    if (text !== undefined) return text;
    if (performance.now() > giveUpAtMs) throw unavailable();
    if (reader.isWaiting()) await new Promise((resolve) => setTimeout(resolve, TRY_AGAIN_MS));
  }
}

/** Undefined if the result must not be used: a service is unavailable, or the reader's session has ended. */
async function tryOnce(
  { change, resultOf, variables, cost }: Pick<EventRun, 'change' | 'resultOf' | 'variables' | 'cost'>,
  { isWaiting, call }: Reader,
): Promise<string | undefined> {
  const request = {
    call: callFor(change, call),
    deadline: performance.now() + EVENT_DEADLINE_MS,
    mutation: false,
    cost,
  };
  const result = await resultOf(change, variables, request);
  await nextTurn(); // many results may have arrived together
  if (result.errors && (lacksService(result) || !isWaiting())) return undefined;
  return traced(JSON.stringify(result), change);
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
