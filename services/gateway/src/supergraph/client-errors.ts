import { AppError, isErrorCode, toGraphQLError } from '@taskmesh/contracts';
import type { Log } from '@taskmesh/service';
import { GraphQLError, type GraphQLErrorExtensions, type GraphQLFormattedError } from 'graphql';
import { GRAPHQL_CODES, type EngineResult, type GraphQLCode, type OperationResult } from './operation.ts';

function isPublicCode(code: unknown): code is GraphQLCode {
  return isErrorCode(code) || (GRAPHQL_CODES as readonly unknown[]).includes(code);
}

/** The error as clients may see it: no service name, no stack, only some extensions. Undefined if it is internal. */
export function publicError(
  error: GraphQLFormattedError & { extensions?: GraphQLErrorExtensions },
): GraphQLFormattedError | undefined {
  const { code, issues, retryAfterSeconds } = error.extensions ?? {};
  if (!isPublicCode(code) || code === 'INTERNAL_SERVER_ERROR') return undefined;
  return {
    message: error.message,
    ...(error.path && { path: error.path }),
    extensions: {
      code,
      ...(issues !== undefined && { issues }),
      ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
    },
  };
}

/** Stands in for internal errors; the request id finds the details in the log. */
export function internalError(requestId: string, path?: GraphQLFormattedError['path']): GraphQLFormattedError {
  return {
    message: 'Internal server error',
    ...(path && { path }),
    extensions: { code: 'INTERNAL_SERVER_ERROR', requestId },
  };
}

/** Both `code` and `message` are shown to the client. */
export function refusal(code: GraphQLCode, message: string): GraphQLError {
  return new GraphQLError(message, { extensions: { code } });
}

/** Converts our own errors to GraphQL errors; returns any other unchanged. */
export const asGraphQL = (error: unknown): unknown => (error instanceof AppError ? toGraphQLError(error) : error);

export type FormatErrors = (errors: readonly unknown[], requestId: string) => GraphQLFormattedError[];

/** Formats an operation's errors for the client, and logs the internal ones. */
export function createErrorFormat(log: Log): FormatErrors {
  return (errors, requestId) => {
    const logged = new Set<unknown>(); // one failure may be the reason for many nulls
    return errors.map((error) => {
      const formatted = error instanceof GraphQLError ? error.toJSON() : undefined;
      const known = formatted && publicError(formatted);
      if (known) return known;
      const failure = formatted?.message ?? error;
      if (!logged.has(failure)) log.error({ err: error, requestId, path: formatted?.path }, 'operation failed');
      logged.add(failure);
      return internalError(requestId, formatted?.path);
    });
  };
}

/** How many nulls get their own error, and are logged. */
const MAX_INCOMPLETE = 100;

export type FormatResult = (result: EngineResult, requestId: string) => OperationResult;

/**
 * Formats an operation's result for the client. A value that a service omitted without an error, against its schema, is a
 * defect: the null in its place needs an error (GraphQL, 6.4.4).
 */
export function createResultFormat(log: Log): FormatResult {
  const formatErrors = createErrorFormat(log);
  return ({ data, errors, incomplete }, requestId) => {
    const shown = formatErrors(errors ?? [], requestId);
    if (incomplete && incomplete.length > 0) {
      log.error({ incomplete: incomplete.slice(0, MAX_INCOMPLETE), requestId }, 'a result is incomplete');
      for (const { path } of incomplete.slice(0, MAX_INCOMPLETE)) shown.push(internalError(requestId, path));
    }
    return shown.length > 0 ? { data, errors: shown } : { data };
  };
}
