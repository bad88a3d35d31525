import { ApolloServer, HeaderMap, type ApolloServerPlugin } from '@apollo/server';
import {
  ApolloServerPluginCacheControlDisabled,
  ApolloServerPluginInlineTraceDisabled,
  ApolloServerPluginLandingPageDisabled,
  ApolloServerPluginSchemaReportingDisabled,
  ApolloServerPluginUsageReportingDisabled,
} from '@apollo/server/plugin/disabled';
import type { KeyValue } from '@taskmesh/key-value';
import type { Log } from '@taskmesh/service';
import type { GraphQLFormattedError, GraphQLSchema } from 'graphql';
import type { GraphQLConfig } from '../config.ts';
import { internalError, publicError, refusal } from '../graph/client-errors.ts';
import type { RequestCall } from '../graph/executor.ts';
import type { Graph, LiveGraph } from '../graph/graph.ts';
import { parseOptions } from './admit.ts';
import { createPersistedQueries } from './persisted-queries.ts';
import type { DocumentLimits } from './limits.ts';

const MAX_ERRORS = 10;
/** A well-formed request whose document is not: GraphQL over HTTP answers these with 200 to `application/json`. */
const DOCUMENT_ERRORS = new Set(['GRAPHQL_PARSE_FAILED', 'GRAPHQL_VALIDATION_FAILED']);

export interface ApolloDeps {
  config: GraphQLConfig;
  graph: LiveGraph;
  limits: DocumentLimits;
  keyValue: KeyValue;
  log: Log;
}

/** Apollo Server in front of our executor: documents, persisted queries, GraphQL over HTTP. It asks no other host for anything. */
export function createApolloServer(deps: ApolloDeps): ApolloServer<RequestCall> {
  const { config, graph, limits, keyValue, log } = deps;
  return new ApolloServer<RequestCall>({
    gateway: gatewayOf(graph),
    nodeEnv: 'production',
    logger: {
      debug: () => undefined,
      info: () => undefined,
      warn: (message) => log.warn(message),
      error: (message) => log.error(message),
    },
    introspection: config.introspection,
    hideSchemaDetailsFromClientErrors: !config.introspection,
    includeStacktraceInErrorResponses: false,
    stopOnTerminationSignals: false,
    csrfPrevention: false, // the route has its own rule
    allowBatchedHttpRequests: false,
    parseOptions: parseOptions(config),
    validationRules: [limits.rule],
    validationOptions: { maxErrors: MAX_ERRORS },
    persistedQueries:
      config.trustedDocuments === 'only' ? false : { cache: createPersistedQueries(keyValue), ttl: null },
    formatError: (formatted, error) => toClient(formatted, error, log),
    plugins: [
      ApolloServerPluginCacheControlDisabled(),
      ApolloServerPluginInlineTraceDisabled(),
      ApolloServerPluginLandingPageDisabled(),
      ApolloServerPluginSchemaReportingDisabled(),
      ApolloServerPluginUsageReportingDisabled(),
      ourRules(limits),
      ourExecution(graph),
    ],
  });
}

/** Where Apollo Server has its schema from: told of a new graph, it forgets its documents. */
function gatewayOf(graph: LiveGraph): NonNullable<ConstructorParameters<typeof ApolloServer>[0]['gateway']> {
  let notify: (loaded: { apiSchema: GraphQLSchema; coreSupergraphSdl: string }) => void = () => undefined;
  const tell = ({ supergraph }: Graph) => notify({ apiSchema: supergraph.schema, coreSupergraphSdl: supergraph.sdl });
  graph.beforeSwitch((next) => () => tell(next));
  return {
    onSchemaLoadOrUpdate(callback) {
      notify = callback;
      return () => undefined;
    },
    async load() {
      tell(graph.current);
      return {
        // Only what `ourExecution` below leaves comes here.
        executor: async () => ({
          errors: [refusal('OPERATION_RESOLUTION_FAILURE', 'There is no such operation in the document.')],
        }),
      };
    },
    stop: async () => undefined,
  };
}

/**
 * Runs operations on our executor: Apollo Server keeps the document, we keep what belongs to it. A request that was
 * validated before the graph changed runs on the graph that it was validated for. Not by `gateway.executor`: what Apollo
 * Server makes for that has accessors, whose hidden classes keep every request in memory until the next major collection.
 */
function ourExecution(graph: LiveGraph): ApolloServerPlugin<RequestCall> {
  return {
    async requestDidStart() {
      return {
        async responseForOperation({ schema, document, source, request, contextValue }) {
          const { executor } = graph.of(schema);
          const operation = executor.adopt(document, source, request.operationName);
          if (!operation) return null;
          const { data, errors } = await executor.run(operation, request.variables ?? {}, contextValue);
          const http = { status: undefined, headers: new HeaderMap() };
          if (!errors) return { http, body: { kind: 'single', singleResult: { data } } };
          const told = errors.map(({ message, path, extensions }) => ({ message, ...(path && { path }), extensions }));
          if (data !== null || !areAboutVariables(errors))
            return { http, body: { kind: 'single', singleResult: { data, errors: told } } };
          return { http: { ...http, status: 400 }, body: { kind: 'single', singleResult: { errors: told } } };
        },
      };
    },
  };
}

/** Nothing ran: then there is no `data` in the answer either. */
function areAboutVariables(errors: readonly GraphQLFormattedError[]): boolean {
  return errors.every(({ path, extensions }) => path === undefined && extensions?.code === 'BAD_USER_INPUT');
}

function ourRules(limits: DocumentLimits): ApolloServerPlugin<RequestCall> {
  return {
    async requestDidStart() {
      return {
        async didResolveOperation({ schema, document, operation, request }) {
          if (!operation) return;
          if (operation.operation === 'subscription') {
            throw refusal(
              'BAD_USER_INPUT',
              'Subscriptions run over graphql-ws, or with Accept: text/event-stream or multipart/mixed.',
              400,
            );
          }
          limits.checkCost(schema, document, operation, request.variables ?? {});
        },
        async willSendResponse({ response, contextValue, request, operation }) {
          if (response.body.kind !== 'single') return;
          const { errors, data } = response.body.singleResult;
          if (!errors) return;
          const codes = errors.map(({ extensions }) => extensions?.code);
          response.body.singleResult.errors = errors.map((error) => withRequestId(error, contextValue.requestId));
          if (data == null && codes.every((code) => code === 'SERVICE_UNAVAILABLE')) {
            response.http.status = 503;
            response.http.headers.set('retry-after', '1');
          } else if (data === undefined && !wantsStatus(request.http?.headers)) {
            // A subscription by POST stays a plain refusal.
            const isRunnable = operation !== undefined && operation.operation !== 'subscription';
            const isAboutVariables =
              isRunnable && response.http.status === 400 && codes.every((code) => code === 'BAD_USER_INPUT');
            if (isAboutVariables || codes.every((code) => DOCUMENT_ERRORS.has(String(code))))
              response.http.status = 200;
          }
        },
      };
    },
  };
}

function wantsStatus(headers: HeaderMap | undefined): boolean {
  return headers?.get('accept')?.includes('application/graphql-response+json') ?? false;
}

function withRequestId(error: GraphQLFormattedError, requestId: string): GraphQLFormattedError {
  if (error.extensions?.code !== 'INTERNAL_SERVER_ERROR') return error;
  return internalError(requestId, error.path);
}

/** Apollo Server's own bad requests become ours. */
function toClient(formatted: GraphQLFormattedError, error: unknown, log: Log): GraphQLFormattedError {
  const { code } = formatted.extensions ?? {};
  if (code === 'BAD_REQUEST') return { ...formatted, extensions: { code: 'BAD_USER_INPUT' } };
  if (code === 'PERSISTED_QUERY_NOT_SUPPORTED')
    return { message: formatted.message, extensions: { code: 'PERSISTED_QUERY_NOT_FOUND' } };
  const known = publicError(formatted);
  if (known) return known;
  if (code === 'INTERNAL_SERVER_ERROR' && formatted.extensions?.requestId !== undefined) return formatted;
  log.error({ err: error }, 'graphql request failed');
  return { message: 'Internal server error', extensions: { code: 'INTERNAL_SERVER_ERROR' } };
}
