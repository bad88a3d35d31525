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
  ApolloServerPluginSchemaReportingDisabled,
  ApolloServerPluginUsageReportingDisabled,
} from '@apollo/server/plugin/disabled';
import { InvalidOperation } from '@taskmesh/federation';
import type { Log } from '@taskmesh/service';
import type { GraphQLFormattedError } from 'graphql';
import type { AdmittedOperation, RequestCall } from '../supergraph/operation.ts';
import type { Graph, LiveGraph } from '../supergraph/live-graph.ts';

/** An operation that came over HTTP. */
export interface HttpOperation {
  outcome: AdmittedOperation | InvalidOperation;
  caller: RequestCall;
  /** The media type of the response. */
  type: string;
}

export type GraphQLServer = ReturnType<typeof createGraphQLServer>;

/** Apollo Server clones the context of a request, but not the objects in it. */
interface Context extends BaseContext {
  operation: HttpOperation;
}

/** Apollo Server in front of our executor, for GraphQL over HTTP. It contacts no other host. */
export function createGraphQLServer({ graph, log }: { graph: LiveGraph; log: Log }) {
  const listener = createListener(graph);
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
    // Admission does this for all transports.
    csrfPrevention: false,
    dangerouslyDisableValidation: true,
    persistedQueries: false,
    documentStore: {
      get: async (key) => graph.current.parsed(hashIn(key)),
      set: async () => undefined, // admission keeps documents, once they are valid
      delete: async () => undefined,
    },
    formatError(formatted, error) {
      if (formatted.extensions?.['code'] !== 'INTERNAL_SERVER_ERROR') return formatted;
      log.error({ err: error }, 'graphql request failed');
      return { message: 'Internal server error', extensions: { code: 'INTERNAL_SERVER_ERROR' } };
    },
    plugins: [
      ApolloServerPluginCacheControlDisabled(),
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
      if (isStarted) await server.stop(); // Apollo Server's `stop` throws before the start
    },
    /** The body is JSON. */
    async execute(operation: HttpOperation) {
      const { outcome, type } = operation;
      const admitted = outcome instanceof InvalidOperation ? undefined : outcome.operation;
      const { status, headers, body } = await server.executeHTTPGraphQLRequest({
        httpGraphQLRequest: {
          method: 'POST', // GET requests have been read already, and admission has checked what they may do
          headers: new HeaderMap([['accept', type]]),
          search: '',
          // A refused document is not even parsed.
          body: { query: admitted?.source ?? '', operationName: admitted?.operationName ?? null },
        },
        context: async () => ({ operation }),
      });
      if (body.kind !== 'complete') throw new Error('Incremental delivery is not supported.');
      if (status === 500) throw new Error('Apollo Server cannot answer.'); // `formatError` has logged the reason
      return { status: status ?? 200, headers, body: body.string };
    },
  };
}

/** Apollo Server's keys are prefixes and SHA-256 hashes. */
const hashIn = (key: string) => key.slice(-64);

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
 * Runs an operation on the graph for which it was admitted. Not as `gateway.executor`: the objects that Apollo Server creates
 * for that have accessors, whose hidden classes retain each request until the next major garbage collection.
 */
async function execute(graph: LiveGraph, admitted: AdmittedOperation, caller: RequestCall): Promise<GraphQLResponse> {
  const { data, errors } = await graph.run(admitted, caller);
  const status = errors && data === null ? retryStatusOf(errors) : undefined;
  const headers = new HeaderMap(status ? [['retry-after', '1']] : []);
  return { http: { status, headers }, body: { kind: 'single', singleResult: { data, ...(errors && { errors }) } } };
}

/** The status of a result that failed only because of unavailable services, or of other operations of the same caller. */
function retryStatusOf(errors: readonly GraphQLFormattedError[]): 429 | 503 | undefined {
  if (errors.every(({ extensions }) => extensions?.['code'] === 'SERVICE_UNAVAILABLE')) return 503;
  // auth's own limits are reported for a field, with its path.
  return errors.every(({ path, extensions }) => !path && extensions?.['code'] === 'RATE_LIMITED') ? 429 : undefined;
}

/** Runs admitted operations, and completes the responses to refused ones. */
function createListener(graph: LiveGraph): GraphQLRequestListener<Context> {
  return {
    async responseForOperation({ contextValue: { operation } }) {
      const { outcome, caller } = operation;
      return outcome instanceof InvalidOperation ? null : execute(graph, outcome, caller);
    },
    async willSendResponse({ contextValue: { operation }, response: { http, body } }) {
      const { outcome, type } = operation;
      http.headers.set('content-type', type);
      if (!(outcome instanceof InvalidOperation)) return;
      http.status = outcome.httpStatus ?? refusedStatusOf(type);
      if (http.status === 405) http.headers.set('allow', 'POST');
      if (http.status === 503) http.headers.set('retry-after', '1');
      if (body.kind === 'single') body.singleResult.errors = outcome.errors.map((error) => error.toJSON());
    },
  };
}

/** GraphQL over HTTP: a well-formed request that cannot run gets a 200 as `application/json`, but a 400 as this type. */
const refusedStatusOf = (type: string) => (type.startsWith('application/graphql-response+json') ? 400 : 200);
