import { isErrorCode, type ErrorCode } from '@taskmesh/errors';
import type { Log } from '@taskmesh/service';
import { GraphQLError, type GraphQLErrorExtensions, type GraphQLFormattedError } from 'graphql';

/** Codes of GraphQL itself, besides those of `@taskmesh/errors`. */
const GRAPHQL_CODES = [
  'GRAPHQL_PARSE_FAILED',
  'GRAPHQL_VALIDATION_FAILED',
  'OPERATION_RESOLUTION_FAILURE',
  'PERSISTED_QUERY_NOT_FOUND',
] as const;

export type GraphQLCode = ErrorCode | (typeof GRAPHQL_CODES)[number];

function isPublicCode(code: unknown): code is GraphQLCode {
  return isErrorCode(code) || (GRAPHQL_CODES as readonly unknown[]).includes(code);
}

/** A failure that a client may hear of, whatever brought it: no service, no stack, nothing of ours but the code. */
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

/** What a client hears of anything else: the id under which the log has the rest. */
export function internalError(requestId: string, path?: GraphQLFormattedError['path']): GraphQLFormattedError {
  return {
    message: 'Internal server error',
    ...(path && { path }),
    extensions: { code: 'INTERNAL_SERVER_ERROR', requestId },
  };
}

/** `code` goes to the client; so does `message`. */
export function refusal(code: GraphQLCode, message: string): GraphQLError {
  return new GraphQLError(message, { extensions: { code } });
}

export type FormatErrors = (errors: readonly unknown[], requestId: string) => GraphQLFormattedError[];

/** Errors of an operation as the client gets them; those that are not for clients go to the log. */
export function createErrorFormat(log: Log): FormatErrors {
  return (errors, requestId) =>
    errors.map((error) => {
      const formatted = error instanceof GraphQLError ? error.toJSON() : undefined;
      const known = formatted && publicError(formatted);
      if (known) return known;
      log.error({ err: error, requestId, path: formatted?.path }, 'operation failed');
      return internalError(requestId, formatted?.path);
    });
}
