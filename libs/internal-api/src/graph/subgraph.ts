import { AppError, forbidden, toGraphQLError, unauthenticated } from '@taskmesh/contracts';
import type { Identity } from '@taskmesh/identity';
import { inSpan, type Log, type SpanDescription } from '@taskmesh/service';
import { executableSubgraph, type CallOptions, type SubgraphRequest, type SubgraphResult } from '@taskmesh/subgraph';
import {
  Kind,
  parse,
  type DocumentNode,
  type GraphQLError,
  type GraphQLFormattedError,
  type OperationDefinitionNode,
} from 'graphql';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export interface SubgraphCall extends CallOptions {
  identity: Identity;
  requestId: string;
  traceparent?: string | undefined;
  /** Resolves when the response is sent or its connection has closed. @default as soon as the operation has run */
  sent?: Promise<unknown>;
}

/** The context of every resolver. `extensions` is sent to the gateway with the result, but never to clients. */
export interface SubgraphContext extends SubgraphCall {
  extensions: Record<string, unknown>;
  /** Resolves when the result no longer occupies memory here. */
  ended: Promise<unknown>;
}

/** A service's part of the graph. The HTTP server and the in-process data source both call `execute`. */
export type Subgraph = ReturnType<typeof createSubgraph>;

export interface SubgraphOptions {
  name: string;
  typeDefs: DocumentNode;
  /** Typed by the service's generated types. */
  resolvers: object;
  mapError?: (error: unknown) => AppError | undefined;
  /** Receives each mutation's outcome: `ok`, the code of an expected failure, or INTERNAL_SERVER_ERROR. */
  onMutation?: (name: string, outcome: string) => void;
  log: Log;
}

/** Reads the SDL in all `.graphql` files below a folder. */
export function readTypeDefs(folder: string): DocumentNode {
  const files = globSync('**/*.graphql', { cwd: folder }).toSorted();
  return parse(files.map((file) => readFileSync(join(folder, file), 'utf8')).join('\n'));
}

export function createSubgraph({ name, typeDefs, resolvers, mapError, onMutation, log }: SubgraphOptions) {
  const formatError = (error: GraphQLError, { requestId }: SubgraphContext): GraphQLFormattedError => {
    const { originalError } = error;
    const expected = originalError instanceof AppError ? originalError : originalError && mapError?.(originalError);
    if (expected) {
      if (expected.code === 'SERVICE_UNAVAILABLE') log.warn({ err: expected, requestId }, 'request refused');
      return { ...toGraphQLError(expected).toJSON(), path: error.path };
    }
    if (!originalError) return error.toJSON();
    log.error({ err: originalError, requestId, path: error.path }, 'resolver failed');
    return {
      message: 'Internal server error',
      path: error.path,
      extensions: { code: 'INTERNAL_SERVER_ERROR', requestId },
    };
  };

  const subgraph = executableSubgraph<SubgraphContext>({
    typeDefs,
    resolvers: guardMutations(resolvers, onMutation),
    formatError,
    around(operation) {
      const description = operation ? operationSpan(operation) : { name };
      return (run, context) =>
        inSpan(
          () => description,
          async (span) => {
            if (span) context.traceparent = span.traceparent;
            const result = await run(context);
            if (result.errors) span?.set({ 'taskmesh.graphql.error_codes': codesOf(result.errors) });
            return result;
          },
          name,
        );
    },
  });

  return {
    name,
    async execute(request: SubgraphRequest, call: SubgraphCall): Promise<SubgraphResult> {
      const { promise: ended, resolve: end } = Promise.withResolvers<unknown>();
      let hasRun = false;
      // A failing field may end the request while others are still at work, so the end counts as a cancellation.
      const isCancelled = () => hasRun || call.isCancelled?.() === true;
      const context: SubgraphContext = { ...call, isCancelled, extensions: {}, ended };
      const result = await subgraph.execute(request, context, context).finally(() => {
        hasRun = true;
        end(call.sent);
      });
      if (Object.keys(context.extensions).length === 0) return result;
      return { ...result, extensions: { ...context.extensions, ...result.extensions } };
    },
  };
}

/** Describes an operation's span by its root fields. Documents and operation names may contain clients' data. */
export function operationSpan({ operation: type, selectionSet }: OperationDefinitionNode): SpanDescription {
  const fields = selectionSet.selections.flatMap((each) => (each.kind === Kind.FIELD ? [each.name.value] : []));
  return {
    name: type,
    attributes: { 'graphql.operation.type': type, 'taskmesh.graphql.fields': [...new Set(fields)] },
  };
}

function codesOf(errors: GraphQLFormattedError[]): string[] {
  return [...new Set(errors.map(({ extensions }) => String(extensions?.['code'] ?? 'UNKNOWN')))];
}

type User = Extract<Identity, { role: 'user' }>;

/** @throws AppError UNAUTHENTICATED unless a user is logged in */
export function requireUser(identity: Identity): User {
  if (identity.role !== 'user') throw unauthenticated();
  return identity;
}

/**
 * Requires a signed-in user: a personal token must not control the account itself.
 * @throws AppError UNAUTHENTICATED unless the caller is a user, FORBIDDEN for a personal token
 */
export function requireSession(identity: Identity): User {
  const user = requireUser(identity);
  if (user.scope !== undefined) throw forbidden('A personal token cannot do this: sign in.');
  return user;
}

/** @throws AppError FORBIDDEN for a personal token that may only read */
function requireWriting(identity: Identity): void {
  if (identity.role === 'user' && identity.scope === 'read') throw forbidden('This personal token may only read.');
}

/** @throws AppError FORBIDDEN for users, UNAUTHENTICATED for anonymous callers */
export function requireOperator(identity: Identity): void {
  if (identity.role === 'operator') return;
  throw identity.role === 'anonymous' ? unauthenticated('Operators only.') : forbidden('Operators only.');
}

/** Restricts a resolver to operators. @throws AppError like `requireOperator` */
export const forOperators =
  <Args, Result>(work: (args: Args) => Result) =>
  (_parent: unknown, args: Args, { identity }: { identity: Identity }): Result => {
    requireOperator(identity);
    return work(args);
  };

type Resolve = (parent: unknown, args: unknown, context: { identity: Identity }, info: unknown) => unknown;
type Mutations = Record<string, Resolve | { resolve: Resolve }>;

/** Makes all mutations refuse read-only tokens, and reports their outcomes. Done here so that no service can forget it. */
function guardMutations(resolvers: object, onMutation: SubgraphOptions['onMutation']): object {
  const { Mutation: mutations } = resolvers as { Mutation?: Mutations };
  if (!mutations) return resolvers;
  const guarded = Object.entries(mutations).map(([name, field]): [string, Resolve] => {
    const resolve = typeof field === 'function' ? field : field.resolve;
    return [
      name,
      async (parent, args, context, info) => {
        try {
          requireWriting(context.identity);
          const result = await resolve(parent, args, context, info);
          onMutation?.(name, 'ok');
          return result;
        } catch (error) {
          onMutation?.(name, error instanceof AppError ? error.code : 'INTERNAL_SERVER_ERROR');
          throw error;
        }
      },
    ];
  });
  return { ...resolvers, Mutation: Object.fromEntries(guarded) };
}
