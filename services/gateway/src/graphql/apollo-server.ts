import {
  ApolloServer,
  HeaderMap,
  type ApolloServerOptionsWithGateway,
  type BaseContext,
  type GraphQLRequestListener,
  type GraphQLResponse,
} from '@apollo/server';
import {
  ApolloServerPluginCacheControlDisabled,
  ApolloServerPluginInlineTraceDisabled,
  ApolloServerPluginLandingPageDisabled,
  ApolloServerPluginSchemaReportingDisabled,
  ApolloServerPluginUsageReportingDisabled,
} from '@apollo/server/plugin/disabled';
import { badUserInput, toGraphQLError } from '@taskmesh/contracts';
import type { Log, Service } from '@taskmesh/service';
import { GraphQLError, type GraphQLFormattedError } from 'graphql';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { GraphQLConfig } from '../config.ts';
import { InvalidOperation, type RequestCall } from '../supergraph/operation.ts';
import type { Graph, LiveGraph } from '../supergraph/live-graph.ts';
import type { GraphMetrics } from '../supergraph/executor.ts';
import type { Admission, AdmittedOperation, Arrival, CheckedRequest } from './admission.ts';
import type { PersistedQueries } from './persisted-queries.ts';
import { parseOptionsOf, syntaxMessage } from './validation.ts';

/** From this cost on (docs/limits.md), results may have megabytes. */
const LARGE_COST = 500;

/** A GraphQL request over HTTP. */
export interface HttpOperation {
  /** What was read, or why it was refused before its document was looked at. */
  request: CheckedRequest | InvalidOperation;
  arrival: Arrival & { caller: RequestCall };
  /** The media type of the response. */
  type: string;
  /** Set once the operation has been admitted or refused. */
  outcome?: AdmittedOperation | InvalidOperation;
}

export interface GraphQLServer extends Service {
  /** The body is JSON. */
  answer(operation: HttpOperation): Promise<{ status: number; headers: Iterable<[string, string]>; body: string }>;
}

export interface GraphQLServerDeps {
  config: GraphQLConfig;
  graph: LiveGraph;
  admission: Admission;
  persisted: PersistedQueries;
  metrics: Pick<GraphMetrics, 'refused'>;
  log: Log;
}

/** Apollo Server clones the context of a request, but not what is in it. */
interface Context extends BaseContext {
  operation: HttpOperation;
}

/** Apollo Server in front of our executor, for GraphQL over HTTP. It contacts no other host. */
export function createGraphQLServer(deps: GraphQLServerDeps): GraphQLServer {
  const { config, graph, persisted, log } = deps;
  const listener = createListener(deps);
  const server = new ApolloServer<Context>({
    gateway: gatewayOf(graph),
    nodeEnv: 'production',
    logger: {
      debug: () => undefined,
      info: () => undefined,
      warn: (message) => log.warn(message),
      error: (message) => log.error(message),
    },
    includeStacktraceInErrorResponses: false,
    stopOnTerminationSignals: false,
    csrfPrevention: false, // reading a request checks that, for streams as well
    parseOptions: parseOptionsOf(config),
    dangerouslyDisableValidation: true, // admission validates, for all transports
    documentStore: {
      get: async (key) => graph.current.parsed(hashIn(key)),
      set: async () => undefined, // admission keeps documents, once they are valid
      delete: async () => undefined,
    },
    persistedQueries: {
      cache: {
        get: (key) => persisted.get(hashIn(key)),
        set: async () => undefined, // admission keeps them, within a caller's budget
        delete: async () => undefined,
      },
    },
    formatError: (formatted, error) => formatError(formatted, error, log),
    plugins: [
      ApolloServerPluginCacheControlDisabled(),
      ApolloServerPluginInlineTraceDisabled(),
      ApolloServerPluginLandingPageDisabled(),
      ApolloServerPluginSchemaReportingDisabled(),
      ApolloServerPluginUsageReportingDisabled(),
      { requestDidStart: async () => listener },
    ],
  });
  let isStarted = false;

  return {
    async start() {
      await server.start();
      isStarted = true;
    },
    async stop() {
      if (isStarted) await server.stop(); // which throws before the start
    },
    async answer(operation) {
      const { request, type } = operation;
      const { status, headers, body } = await server.executeHTTPGraphQLRequest({
        httpGraphQLRequest: {
          method: 'POST', // what came by GET has been read, and admission knows that it did
          headers: new HeaderMap([['accept', type]]),
          search: '',
          body: request instanceof InvalidOperation ? {} : bodyOf(request),
        },
        context: async () => {
          if (request instanceof InvalidOperation) throw asRefusal(request, type);
          return { operation };
        },
      });
      if (body.kind !== 'complete') throw new Error('Incremental delivery is not supported.');
      return { status: status ?? 200, headers, body: body.string };
    },
  };
}

/** Apollo Server's keys are prefixes and SHA-256 hashes. */
const hashIn = (key: string) => key.slice(-64);

function bodyOf({ query, operationName, variables, hash }: CheckedRequest) {
  const extensions = query === undefined && hash ? { persistedQuery: { version: 1, sha256Hash: hash.value } } : null;
  return { query, operationName: operationName ?? null, variables, extensions };
}

/** How Apollo Server gets its schema. */
function gatewayOf(graph: LiveGraph): ApolloServerOptionsWithGateway<Context>['gateway'] {
  let notify: Parameters<ApolloServerOptionsWithGateway<Context>['gateway']['onSchemaLoadOrUpdate']>[0];
  const update = ({ supergraph }: Graph) => notify({ apiSchema: supergraph.schema, coreSupergraphSdl: supergraph.sdl });
  graph.beforeSwitch((next) => () => update(next));
  return {
    onSchemaLoadOrUpdate(callback) {
      notify = callback;
      return () => undefined;
    },
    async load() {
      update(graph.current);
      return { executor: null };
    },
    stop: async () => undefined,
  };
}

/**
 * Runs an admitted operation, on the graph for which it was admitted. Not as `gateway.executor`: what Apollo Server
 * creates for that has accessors, whose hidden classes keep each request until the next major garbage collection.
 */
async function execute(
  graph: LiveGraph,
  { operation, variables }: AdmittedOperation,
  caller: RequestCall,
): Promise<GraphQLResponse> {
  const { data, errors } = await graph.of(operation.schema).executor.run(operation, variables, caller);
  if (operation.cost(variables) > LARGE_COST) await nextTurn(); // Apollo Server makes its text in one go
  const status = errors && data === null ? retryStatusOf(errors) : undefined;
  const headers = new HeaderMap(status ? [['retry-after', '1']] : []);
  return { http: { status, headers }, body: { kind: 'single', singleResult: { data, ...(errors && { errors }) } } };
}

/** Of a result that nothing but absent services, or other operations of its caller, kept from being. */
function retryStatusOf(errors: readonly GraphQLFormattedError[]): 429 | 503 | undefined {
  if (errors.every(({ extensions }) => extensions?.['code'] === 'SERVICE_UNAVAILABLE')) return 503;
  // Those of auth belong to a field.
  return errors.every(({ path, extensions }) => !path && extensions?.['code'] === 'RATE_LIMITED') ? 429 : undefined;
}

/** Admits operations and runs them, and completes the response to those that are refused. */
function createListener({ graph, admission, metrics }: GraphQLServerDeps): GraphQLRequestListener<Context> {
  return {
    async didResolveOperation({ contextValue: { operation }, source, queryHash: hash, document }) {
      const { request, arrival, type } = operation;
      if (request instanceof InvalidOperation) return;
      try {
        operation.outcome ??= await admission.admit(request, arrival, { source, hash, document });
      } catch (error) {
        if (!(error instanceof InvalidOperation)) throw error;
        operation.outcome = error;
      }
      if (operation.outcome instanceof InvalidOperation) throw asRefusal(operation.outcome, type);
    },
    async responseForOperation({ contextValue: { operation } }) {
      const { outcome, arrival } = operation;
      return outcome && !(outcome instanceof InvalidOperation) ? execute(graph, outcome, arrival.caller) : null;
    },
    async didEncounterErrors({ contextValue: { operation }, errors: [error] }) {
      if (!operation.outcome) metrics.refused(String(error?.extensions['code']));
    },
    async willSendResponse({ contextValue: { operation }, response: { http, body } }) {
      const { outcome, type } = operation;
      http.headers.set('content-type', type);
      if (outcome && !(outcome instanceof InvalidOperation)) return;
      http.status = outcome?.httpStatus ?? refusedStatusOf(type);
      // A listener can throw one error only.
      if (outcome && body.kind === 'single') body.singleResult.errors = outcome.errors.map((error) => error.toJSON());
    },
  };
}

/** GraphQL over HTTP: a request that is well-formed and cannot run is a 200 as `application/json`, a 400 as this type. */
const refusedStatusOf = (type: string) => (type.startsWith('application/graphql-response+json') ? 400 : 200);

function asRefusal({ errors: [error], httpStatus }: InvalidOperation, type: string): GraphQLError {
  const headers = new HeaderMap(httpStatus === 405 ? [['allow', 'POST']] : []);
  return new GraphQLError(error?.message ?? '', {
    extensions: { ...error?.extensions, http: { status: httpStatus ?? refusedStatusOf(type), headers } },
  });
}

const isOfParser = (error: unknown) => error instanceof GraphQLError && error.originalError !== undefined;

/** For errors of Apollo Server's own, and those that refuse an operation. */
function formatError(formatted: GraphQLFormattedError, error: unknown, log: Log): GraphQLFormattedError {
  const { message, extensions } = formatted;
  switch (extensions?.['code']) {
    case 'GRAPHQL_PARSE_FAILED':
      return isOfParser(error) ? { ...formatted, message: syntaxMessage(message) } : formatted;
    case 'BAD_REQUEST':
      return toGraphQLError(badUserInput([{ path: '', message }])).toJSON();
    case 'INTERNAL_SERVER_ERROR':
      log.error({ err: error }, 'graphql request failed');
      return { message: 'Internal server error', extensions: { code: 'INTERNAL_SERVER_ERROR' } };
    default:
      return formatted;
  }
}
