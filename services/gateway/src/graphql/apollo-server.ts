import { ApolloServer, HeaderMap, type ApolloServerPlugin, type GraphQLResponse } from '@apollo/server';
import {
  ApolloServerPluginCacheControlDisabled,
  ApolloServerPluginInlineTraceDisabled,
  ApolloServerPluginLandingPageDisabled,
  ApolloServerPluginSchemaReportingDisabled,
  ApolloServerPluginUsageReportingDisabled,
} from '@apollo/server/plugin/disabled';
import type { Log, Service } from '@taskmesh/service';
import { parse, type GraphQLFormattedError, type GraphQLSchema } from 'graphql';
import { createHash } from 'node:crypto';
import { InvalidOperation, type RequestCall } from '../graph/executor.ts';
import type { Graph, LiveGraph } from '../graph/graph.ts';
import type { AdmittedOperation } from './admission.ts';

/** Apollo Server refuses requests without a text, and hashes any it gets. So we send the hash of this one instead. */
const ANY_QUERY = '{ __typename }';
const BY_HASH = { persistedQuery: { version: 1, sha256Hash: createHash('sha256').update(ANY_QUERY).digest('hex') } };
const ONE_TEXT = { get: async () => ANY_QUERY, set: async () => undefined, delete: async () => false };
const NO_OPERATION = { document: parse(ANY_QUERY), operationName: undefined };

/** A request that has been read and admitted or refused, before Apollo Server sees it. */
export interface HttpOperation {
  call: RequestCall;
  outcome: AdmittedOperation | InvalidOperation;
  /** The media type of the answer. */
  type: string;
}

export interface HttpAnswer {
  status: number;
  headers: Iterable<[string, string]>;
  /** JSON; bytes when it is compressed. */
  body: string | Buffer;
}

export interface ApolloAnswers extends Service {
  answer(operation: HttpOperation): Promise<HttpAnswer>;
}

export interface ApolloDeps {
  graph: LiveGraph;
  log: Log;
}

/**
 * Apollo Server in front of our executor, for GraphQL over HTTP. Its operations have already been admitted, so it
 * neither parses nor validates. It contacts no other host.
 */
export function createApolloAnswers({ graph, log }: ApolloDeps): ApolloAnswers {
  const server = new ApolloServer<HttpOperation>({
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
    csrfPrevention: false, // the route has its own check
    allowBatchedHttpRequests: false,
    documentStore: null,
    persistedQueries: { cache: ONE_TEXT },
    formatError: (formatted, error) => toClient(formatted, error, log),
    plugins: [
      ApolloServerPluginCacheControlDisabled(),
      ApolloServerPluginInlineTraceDisabled(),
      ApolloServerPluginLandingPageDisabled(),
      ApolloServerPluginSchemaReportingDisabled(),
      ApolloServerPluginUsageReportingDisabled(),
      ourExecution(graph),
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
      const { operationName } = documentOf(operation);
      const answer = await server.executeHTTPGraphQLRequest({
        httpGraphQLRequest: {
          method: 'POST',
          headers: new HeaderMap([['content-type', 'application/json']]),
          search: '',
          body: { extensions: BY_HASH, operationName: operationName ?? null },
        },
        context: async () => operation,
      });
      if (answer.body.kind !== 'complete') throw new Error('Nothing here answers in parts.');
      const status = answer.status ?? (isRefusal(operation) && saysByStatus(operation) ? 400 : 200);
      return { status, headers: answer.headers, body: answer.body.string };
    },
  };
}

const isRefusal = ({ outcome }: HttpOperation) => outcome instanceof InvalidOperation;

/** GraphQL over HTTP: a request that is well-formed and cannot run is a 200 as `application/json`, a 400 as this type. */
function saysByStatus({ type }: HttpOperation): boolean {
  return type.startsWith('application/graphql-response+json');
}

function documentOf({ outcome }: HttpOperation) {
  return outcome instanceof InvalidOperation ? NO_OPERATION : outcome.operation;
}

/** How Apollo Server gets its schema. */
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
      return { executor: () => Promise.reject(new Error('Everything is answered by `ourExecution`.')) };
    },
    stop: async () => undefined,
  };
}

type Answer = GraphQLResponse & { body: { kind: 'single' } };

/**
 * Runs admitted operations on our executor, on the graph for which they were admitted. Not as `gateway.executor`: the
 * objects that Apollo Server creates for it have accessors, whose hidden classes keep each request in memory until the
 * next major garbage collection.
 */
function ourExecution(graph: LiveGraph): ApolloServerPlugin<HttpOperation> {
  return {
    async requestDidStart(context) {
      const { contextValue: operation } = context;
      const { call, outcome, type } = operation;
      // With a document set, Apollo Server skips straight to execution.
      Object.assign(context, { document: documentOf(operation).document });
      return {
        responseForOperation: async () =>
          outcome instanceof InvalidOperation
            ? refused(outcome, type)
            : run(graph.of(outcome.operation.schema), outcome, { call, type }),
      };
    },
  };
}

async function run(
  { executor }: Graph,
  { operation, variables }: AdmittedOperation,
  { call, type }: Pick<HttpOperation, 'call' | 'type'>,
): Promise<Answer> {
  const { data, errors } = await executor.run(operation, variables, call);
  const headers = new HeaderMap();
  const status = errors && data === null ? retryStatusOf(errors) : undefined;
  if (status) headers.set('retry-after', '1');
  return {
    http: { status, headers: withType(headers, type) },
    body: { kind: 'single', singleResult: { data, ...(errors && { errors }) } },
  };
}

/** With a type set, Apollo Server chooses none: it would refuse after the operation has run. */
const withType = (headers: HeaderMap, type: string) => headers.set('content-type', type);

/** Of a result that nothing but absent services, or other operations of its caller, kept from being. */
export function retryStatusOf(errors: readonly GraphQLFormattedError[]): 429 | 503 | undefined {
  if (errors.every(({ extensions }) => extensions?.['code'] === 'SERVICE_UNAVAILABLE')) return 503;
  // Those of auth belong to a field.
  return errors.every(({ path, extensions }) => !path && extensions?.['code'] === 'RATE_LIMITED') ? 429 : undefined;
}

function refused({ errors, httpStatus }: InvalidOperation, type: string): Answer {
  const headers = new HeaderMap();
  if (httpStatus === 405) headers.set('allow', 'POST');
  return {
    http: { status: httpStatus, headers: withType(headers, type) },
    body: { kind: 'single', singleResult: { errors: errors.map((error) => error.toJSON()) } },
  };
}

/** Apollo Server's own BAD_REQUESTs become ours. */
function toClient(formatted: GraphQLFormattedError, error: unknown, log: Log): GraphQLFormattedError {
  const { code } = formatted.extensions ?? {};
  const { message } = formatted;
  if (code === 'BAD_REQUEST')
    return { message, extensions: { code: 'BAD_USER_INPUT', issues: [{ path: '', message }] } };
  log.error({ err: error }, 'graphql request failed');
  return { message: 'Internal server error', extensions: { code: 'INTERNAL_SERVER_ERROR' } };
}
