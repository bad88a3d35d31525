import { rateLimited, toGraphQLError, unauthenticated, unavailable } from '@taskmesh/contracts';
import { createDocuments, type DocumentsOptions, type PreparedOperation, type SizeOptions } from '@taskmesh/federation';
import { operationSpan } from '@taskmesh/internal-api';
import {
  type Clock,
  createBulkhead,
  createLatencyHistogram,
  createMeters,
  createNetworkBulkhead,
  inSpan,
  type Log,
  networkOf,
  NETWORKS_PER_SITE,
} from '@taskmesh/service';
import { Kind } from 'graphql';
import { setImmediate as nextTick } from 'node:timers/promises';
import type { Registry } from 'prom-client';
import type { ExecutorKind } from '../config.ts';
import type { BlockingWork } from './blocking-work.ts';
import { asGraphQL, createResultFormat } from './client-errors.ts';
import { createApolloEngine, createCompiledEngine, type EngineDeps } from './engines.ts';
import type { LargeResponses } from './large-responses.ts';
import {
  type Engine,
  type EngineResult,
  type GraphExecutor,
  type GraphSources,
  LARGE_COST,
  type OperationResult,
  type OperationRun,
  type RequestCall,
  type RunOperation,
} from './operation.ts';
import type { Supergraph } from './supergraph.ts';

/** For a whole operation with all its fetches. */
const OPERATION_DEADLINE_MS = 10_000;
export interface ExecutorDeps {
  supergraph: Supergraph;
  services: GraphSources;
  metrics: Pick<GraphMetrics, 'operation'>;
  clock: Clock;
  log: Log;
  kind: ExecutorKind;
  runForCaller: RunForCaller;
  blockingWork: BlockingWork;
  largeResponses: LargeResponses;
  endedSessions: { has(sessionId: string): boolean };
  /** Call this before work that needs much memory. @throws AppError SERVICE_UNAVAILABLE while memory is short */
  requireRoom: () => void;
}

const ENGINES: Record<ExecutorKind, (supergraph: Supergraph, services: GraphSources, deps: EngineDeps) => Engine> = {
  compiled: createCompiledEngine,
  apollo: createApolloEngine,
};

/** What fields of our graph count as (docs/limits.md). */
const SIZES: SizeOptions = {
  maxPage: 1_000,
  lists: new Map([
    ['sessions', 500],
    ['personalTokens', 100],
  ]),
  /** Mutations that prove or replace a password, an address or a token: several at once would evade rate limits. */
  counted: new Set([
    ...['signUp', 'login', 'refreshSession', 'resetPassword', 'requestPasswordReset'],
    ...['changePassword', 'requestEmailChange', 'confirmEmailChange', 'deleteAccount'],
    ...['signInWithCode', 'linkIdentity'],
  ]),
};

/** The responses of services to an operation of this cost have at most about 256 KiB, and do not count as large. */
const SMALL_COST = 20;
/** Hand-written operations have fewer. */
const MANY_FIELDS = 100;

/** How clients' documents are prepared, in addition to the configured limits (docs/limits.md). */
export const DOCUMENT_RULES: Omit<DocumentsOptions, 'schema' | 'limits'> = {
  sizes: SIZES,
  rules: (_operation, { counted }) =>
    counted > 1
      ? ['An operation may have one mutation that proves or replaces a password, an address or a token.']
      : [],
  /** Planning and starting it takes milliseconds. The cost of introspection does not reflect how many types the schema has. */
  isLarge: ({ fields, cost, introspectionDepth }) =>
    fields > MANY_FIELDS || cost > LARGE_COST || introspectionDepth > 0,
};

/** For our own documents. */
const NO_LIMITS = { maxTokens: 0, maxDepth: 0, maxAliases: 0, introspection: true };

const isMutation = ({ operation }: PreparedOperation) => operation.operation === 'mutation';

const ENDINGS = new Set(['logout', 'endSession', 'endOtherSessions', 'endPersonalToken']);
/** Whether it only ends sessions, which must not wait for their own operations. */
const isEnding = ({ operation }: PreparedOperation) =>
  operation.selectionSet.selections.every((each) => each.kind === Kind.FIELD && ENDINGS.has(each.name.value));

export function createExecutor(deps: ExecutorDeps): GraphExecutor {
  const { supergraph, services, metrics, clock, log, kind, blockingWork, endedSessions } = deps;
  const { runForCaller, largeResponses, requireRoom } = deps;
  const { schema } = supergraph;
  const engine = ENGINES[kind](supergraph, services, { log, blockingWork });
  const formatResult = createResultFormat(log);
  const { admit } = createDocuments({ schema, limits: NO_LIMITS, sizes: SIZES });
  /** REST's operations, by text. They need no span of their own: the request's span names the route, and so the operation. */
  const stored = new Map<string, PreparedOperation>();

  const planOf = (operation: PreparedOperation): RunOperation =>
    operation.partOf('plan', (onResize) => engine(operation, onResize));

  const runOf = (operation: PreparedOperation, call: RequestCall): OperationRun => ({
    call,
    deadline: clock.now() + (call.limitMs ?? OPERATION_DEADLINE_MS),
    mutation: isMutation(operation),
    signal: call.signal,
  });

  const run: GraphExecutor['run'] = async ({ operation, variables, cost }, call) => {
    const begunMs = performance.now();
    const isStored = stored.get(operation.source) === operation;
    const begin = () => {
      // It may have waited, or belong to an export that takes long.
      if (call.identity.role === 'user' && endedSessions.has(call.identity.sessionId)) throw unauthenticated();
      if (cost > LARGE_COST) requireRoom();
      const ended = largeResponses.run(call, async (reserveLarge) => {
        const requireRoomForChange = () => {
          if (cost <= SMALL_COST) return;
          requireRoom();
          reserveLarge(0);
        };
        const context = { ...runOf(operation, call), cost, reserveLarge, requireRoom: requireRoomForChange };
        const result = await planOf(operation)(variables, context);
        // The caller serializes the result in one step, as part of this turn. A change that was made is reported at once.
        if (cost > LARGE_COST && !isMutation(operation))
          await blockingWork.run(networkOf(call.ip), () => undefined, call.signal).catch(() => nextTick());
        return result;
      });
      ended.catch(() => undefined); // it may fail before it is awaited
      return { ended };
    };
    const runQueued = () =>
      runForCaller(
        call,
        cost,
        async () => {
          const isQuick = operation.partOf.has('plan') && !operation.isLarge;
          return (isQuick ? begin() : await blockingWork.run(networkOf(call.ip), begin, call.signal)).ended;
        },
        isEnding(operation) ? 'end' : '',
      );
    let result: EngineResult;
    try {
      if (cost > LARGE_COST) requireRoom();
      result = await (isStored ? runQueued() : inSpan(() => operationSpan(operation.operation), runQueued));
    } catch (error) {
      result = { data: null, errors: [asGraphQL(error)] };
    }
    const shown = formatResult(result, call.requestId);
    metrics.operation(operation, (performance.now() - begunMs) / 1_000, shown);
    return shown;
  };

  return {
    schema,

    prepare(source) {
      const known = stored.get(source);
      if (known) return known;
      const prepared = admit(source);
      planOf(prepared);
      stored.set(source, prepared);
      return prepared;
    },

    run,
  };
}

/**
 * How many operations of a caller run at once; other callers' work waits behind all of them. One session leaves room for the
 * other sessions of its account, which can end it. Many people, or a server of theirs, may share an address.
 */
const CONCURRENCY = { session: 6, account: 20, network: 256 };
/** This many objects take milliseconds, and count as one more operation. A default page has fewer. */
const COST_PER_OPERATION = 200;
/** The largest page still runs together with others of its session, which may wait for a service that does not respond. */
const MAX_WEIGHT = CONCURRENCY.session / 2;
const QUEUE = {
  maxWaiting: 1_000,
  maxWaitMs: 5_000,
  refusal: () => toGraphQLError(rateLimited(1, 'Earlier requests of this account or network still run; try again.')),
};

/** Runs an operation of this caller, or rejects with RATE_LIMITED. Lanes of an account do not wait for each other. */
export type RunForCaller = <Result>(
  caller: Pick<RequestCall, 'identity' | 'ip' | 'signal'>,
  cost: number,
  run: () => Promise<Result>,
  lane?: string,
) => Promise<Result>;

/** Limits what one session and one account run at once, so that slow or large operations do not delay other callers. */
export function createCallerBulkheads(): RunForCaller {
  const sessions = createBulkhead({ concurrency: CONCURRENCY.session, ...QUEUE });
  const accounts = createBulkhead({ concurrency: CONCURRENCY.account, ...QUEUE });
  const strangers = createNetworkBulkhead({
    ...{ concurrency: CONCURRENCY.network, ofSite: CONCURRENCY.network * NETWORKS_PER_SITE, ...QUEUE },
  });
  return async ({ identity, ip, signal }, cost, run, lane = '') => {
    const weight = Math.min(1 + Math.floor(cost / COST_PER_OPERATION), MAX_WEIGHT);
    const options = { signal, weight };
    if (signal?.aborted) throw toGraphQLError(unavailable(undefined, new Error('The caller has disconnected.')));
    if (identity.role === 'user') {
      const { sessionId, userId } = identity;
      return sessions.run(lane + sessionId, () => accounts.run(lane + userId, run, options), options);
    }
    if (identity.role === 'operator') return run();
    return strangers.run(networkOf(ip), run, options);
  };
}

export type GraphMetrics = ReturnType<typeof createGraphMetrics>;

/** Labels are operation types, our services and error codes; never names or documents, which clients choose. */
export function createGraphMetrics(registry: Registry) {
  const { counter } = createMeters(registry);
  const operations = createLatencyHistogram(
    registry,
    'graphql_operation_duration_seconds',
    'Time to run a query or mutation, those of REST included',
    'operation_type',
  );
  const requests = createLatencyHistogram(
    registry,
    'graphql_subgraph_request_duration_seconds',
    'Time until a service responded to one request of an operation',
    'subgraph',
  );
  const errors = counter('graphql_operation_errors_total', 'Operations whose results have errors, by code', 'code');
  const refused = counter(
    'graphql_operations_refused_total',
    'Operations of clients that were refused: limits, validation, documents that are not trusted',
    'code',
  );
  for (const operation_type of ['query', 'mutation']) operations.zero({ operation_type });

  return {
    /** A query or mutation has run. */
    operation({ operation }: PreparedOperation, seconds: number, result: Pick<OperationResult, 'errors'>) {
      operations.observe({ operation_type: operation.operation }, seconds);
      if (!result.errors) return;
      for (const code of new Set(result.errors.map(({ extensions }) => String(extensions?.['code']))))
        errors.inc({ code });
    },
    /** Counts the requests to a service, answered or not. */
    requests: (subgraph: string) => (seconds: number) => requests.observe({ subgraph }, seconds),
    /** A client's operation was refused. */
    refused: (code: string): void => refused.inc({ code }),
  };
}
