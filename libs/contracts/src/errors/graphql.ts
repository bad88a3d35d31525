import { GraphQLError, type GraphQLErrorExtensions } from 'graphql';
import type { AppError } from './app-error.ts';

export function toGraphQLError(error: AppError): GraphQLError {
  return new GraphQLError(error.message, { extensions: extensionsOf(error), originalError: error });
}

function extensionsOf({ code, issues, retryAfterSeconds }: AppError): GraphQLErrorExtensions {
  return {
    code,
    ...(issues && { issues }),
    ...(code !== 'SERVICE_UNAVAILABLE' && retryAfterSeconds !== undefined && { retryAfterSeconds }),
  };
}
