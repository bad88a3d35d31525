import { GraphQLError } from 'graphql';
import { InvalidOperation, type PreparedOperation } from '../graph/executor.ts';
import type { GatewayParts } from '../parts.ts';

/** A client's document, ready to run; or what is wrong with it, in the client's form. */
export function admitted(
  parts: GatewayParts,
  query: string,
  operationName: string | undefined,
): PreparedOperation | GraphQLError[] {
  try {
    return parts.admit(query, operationName);
  } catch (error) {
    if (!(error instanceof InvalidOperation)) throw error;
    return error.errors.map(
      ({ message, nodes, source, positions, extensions }) =>
        new GraphQLError(message, { nodes, source, positions, extensions: { code: error.code, ...extensions } }),
    );
  }
}
