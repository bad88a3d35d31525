import { AppError, badUserInput, toGraphQLError } from '@taskmesh/contracts';
import { networkOf, siteOf, type Log } from '@taskmesh/service';
import { GraphQLError } from 'graphql';
import type { GraphQLConfig } from '../config.ts';
import { refusal } from '../supergraph/client-errors.ts';
import { InvalidOperation, type PreparedOperation, type RequestCall } from '../supergraph/executor.ts';
import type { ClientOperation, LiveGraph, ParsedDocument } from '../supergraph/graph.ts';
import type { GraphMetrics } from '../supergraph/metrics.ts';
import { coerceVariables } from '../supergraph/variables.ts';
import { checkRequest, type CheckedRequest, type UncheckedRequest } from './graphql-request.ts';
import { isTooLong } from './limits.ts';
import { isHashOf, type PersistedQueries } from './persisted-queries.ts';
import type { TrustedDocuments } from './trusted-documents.ts';

/** How a request arrived. */
export interface Arrival {
  /** True for HTTP GET, which must not change anything. */
  isGet: boolean;
  canStream: boolean;
  caller: Pick<RequestCall, 'identity' | 'ip'>;
}

/** A client's operation that may run, with coerced variables. */
export interface AdmittedOperation {
  operation: ClientOperation;
  variables: Record<string, unknown>;
}

export const isSubscription = ({ operation: { operation } }: AdmittedOperation) =>
  operation.operation === 'subscription';

/** Checks clients' operations, whatever transport they came by. */
export interface Admission {
  /** Checks a request before its document is parsed, and finds the text of a trusted one. @throws InvalidOperation */
  read(sent: UncheckedRequest): CheckedRequest;
  /** Checks the operation. `parsed` is the document if somebody has found and parsed it. @throws InvalidOperation */
  admit(request: CheckedRequest, arrival: Arrival, parsed?: ParsedDocument): Promise<AdmittedOperation>;
}

export interface AdmissionDeps {
  config: GraphQLConfig;
  graph: LiveGraph;
  trusted: TrustedDocuments;
  persisted: PersistedQueries;
  metrics: Pick<GraphMetrics, 'refused'>;
  log: Log;
}

export function createAdmission({ config, graph, trusted, persisted, metrics, log }: AdmissionDeps): Admission {
  const refused = (error: unknown): unknown => {
    const invalid = asInvalid(error);
    if (invalid instanceof InvalidOperation) metrics.refused(invalid.code);
    return invalid;
  };

  const findText = (request: CheckedRequest): CheckedRequest => {
    const { query, hash } = request;
    const agreed = hash && trusted.byHash(hash.value);
    if (agreed !== undefined) return { ...request, query: agreed, hash: undefined };
    if (query === undefined) return request;
    trusted.check(query);
    if (hash?.kind === 'persisted' && !isHashOf(hash.value, query)) throw wrongHash();
    return request;
  };

  const persistedText = async ({ hash }: CheckedRequest): Promise<string> => {
    const known = hash && (await persisted.get(hash.value));
    if (known === undefined) throw refusal('PERSISTED_QUERY_NOT_FOUND', 'PersistedQueryNotFound');
    return known;
  };

  const remember = ({ query, hash }: CheckedRequest, { caller }: Arrival): void => {
    if (hash?.kind !== 'persisted' || query === undefined) return;
    persisted
      .keep(hash.value, query, budgetOf(caller))
      .catch((error: unknown) => log.warn({ err: error }, 'a persisted query is not kept'));
  };

  return {
    read(sent) {
      try {
        const request = findText(checkRequest(sent));
        if (request.query !== undefined && isTooLong(request.query, config))
          throw refusal('GRAPHQL_PARSE_FAILED', 'The document is too long.');
        return request;
      } catch (error) {
        throw refused(error);
      }
    },

    async admit(request, arrival, parsed) {
      try {
        const source = parsed?.source ?? request.query ?? (await persistedText(request));
        const operation = graph.current.admit(source, request.operationName, parsed);
        checkKind(operation, arrival);
        const variables = coerceVariables(operation, request.variables);
        if (config.maxCost > 0 && operation.cost(variables) > config.maxCost)
          throw refusal('GRAPHQL_VALIDATION_FAILED', 'The operation asks for too much at once.');
        remember(request, arrival);
        return { operation, variables };
      } catch (error) {
        throw refused(error);
      }
    },
  };
}

function checkKind({ operation: { operation: kind } }: PreparedOperation, { isGet, canStream }: Arrival): void {
  if (isGet && kind === 'mutation') {
    const message = 'Mutations run by POST only.';
    throw new InvalidOperation('BAD_USER_INPUT', [toGraphQLError(badUserInput([{ path: 'query', message }]))], 405);
  }
  if (kind === 'subscription' && !canStream) {
    const message = 'Subscriptions run over graphql-ws, or with Accept: text/event-stream or multipart/mixed.';
    throw badUserInput([{ path: 'query', message }]);
  }
}

function wrongHash(): AppError {
  const path = 'extensions.persistedQuery.sha256Hash';
  return badUserInput([{ path, message: `${path} must be the SHA-256 of query.` }]);
}

/** Whose budget of persisted queries a document counts against. */
function budgetOf({ identity, ip }: Arrival['caller']) {
  const network = networkOf(ip);
  return { caller: identity.role === 'user' ? identity.userId : network, network: siteOf(network) };
}

function asInvalid(error: unknown): unknown {
  if (error instanceof AppError) return new InvalidOperation(error.code, [toGraphQLError(error)], error.httpStatus);
  return error instanceof GraphQLError ? new InvalidOperation('BAD_USER_INPUT', [error]) : error;
}
