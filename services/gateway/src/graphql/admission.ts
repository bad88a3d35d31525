import { AppError, badUserInput, toGraphQLError } from '@taskmesh/errors';
import { networkOf, type Log } from '@taskmesh/service';
import { GraphQLError } from 'graphql';
import type { GraphQLConfig } from '../config.ts';
import { refusal } from '../graph/client-errors.ts';
import { InvalidOperation, type PreparedOperation, type RequestCall } from '../graph/executor.ts';
import type { ClientOperation, LiveGraph } from '../graph/graph.ts';
import { coerceVariables } from '../graph/variables.ts';
import { isHashOf, type PersistedQueries } from './persisted-queries.ts';
import { checkRequest, type CheckedRequest, type UncheckedRequest } from './graphql-request.ts';
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

/** Checks clients' operations, whatever transport they came by. @throws InvalidOperation */
export type Admit = (sent: UncheckedRequest, carrier: Arrival) => Promise<AdmittedOperation>;

export interface AdmissionDeps {
  config: GraphQLConfig;
  graph: LiveGraph;
  trusted: TrustedDocuments;
  persisted: PersistedQueries;
  log: Log;
}

export function createAdmission({ config, graph, trusted, persisted, log }: AdmissionDeps): Admit {
  const isRemembered = config.trustedDocuments !== 'only';

  const textOf = async ({ query, hash }: CheckedRequest): Promise<string> => {
    const agreed = hash && trusted.byHash(hash.value);
    if (agreed !== undefined) return agreed;
    if (query !== undefined) {
      trusted.check(query);
      if (hash?.kind === 'persisted' && !isHashOf(hash.value, query)) throw wrongHash();
      return query;
    }
    const known = hash?.kind === 'persisted' && isRemembered ? await persisted.get(hash.value) : undefined;
    if (known === undefined) throw refusal('PERSISTED_QUERY_NOT_FOUND', 'PersistedQueryNotFound');
    return known;
  };

  /** Skips texts that were sent along with a trusted document's hash, as the trusted document ran instead. */
  const remember = ({ query, hash }: CheckedRequest, { source }: PreparedOperation, { caller }: Arrival): void => {
    if (!isRemembered || hash?.kind !== 'persisted' || query !== source) return;
    persisted
      .keep(hash.value, source, budgetOf(caller))
      .catch((error: unknown) => log.warn({ err: error }, 'a persisted query is not kept'));
  };

  return async (sent, carrier) => {
    try {
      const request = checkRequest(sent);
      const operation = graph.current.admit(await textOf(request), request.operationName);
      checkKind(operation, carrier);
      const variables = coerceVariables(operation, request.variables);
      if (config.maxCost > 0 && operation.cost(variables) > config.maxCost)
        throw refusal('GRAPHQL_VALIDATION_FAILED', 'The operation asks for too much at once.');
      remember(request, operation, carrier);
      return { operation, variables };
    } catch (error) {
      throw asInvalid(error);
    }
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
function budgetOf({ identity, ip }: Arrival['caller']): string {
  return identity.role === 'user' ? identity.userId : networkOf(ip);
}

function asInvalid(error: unknown): unknown {
  if (error instanceof AppError) return new InvalidOperation(error.code, [toGraphQLError(error)], error.httpStatus);
  return error instanceof GraphQLError ? new InvalidOperation('BAD_USER_INPUT', [error]) : error;
}
