import { forbidden, unauthenticated } from '@taskmesh/contracts';
import type { Identity } from '@taskmesh/identity';

type User = Extract<Identity, { role: 'user' }>;

/** @throws AppError UNAUTHENTICATED unless a user is logged in */
export function requireUser(identity: Identity): User {
  if (identity.role !== 'user') throw unauthenticated();
  return identity;
}

/**
 * Somebody who has signed in: a personal token is not enough for what decides about the account.
 * @throws AppError UNAUTHENTICATED for anybody who is no user, FORBIDDEN for a personal token
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

/** @throws AppError FORBIDDEN for users, UNAUTHENTICATED for the anonymous */
export function requireOperator(identity: Identity): void {
  if (identity.role === 'operator') return;
  throw identity.role === 'anonymous' ? unauthenticated('Operators only.') : forbidden('Operators only.');
}

/** A resolver that answers operators alone. @throws AppError as `requireOperator` */
export const forOperators =
  <Args, Result>(work: (args: Args) => Result) =>
  (_parent: unknown, args: Args, { identity }: { identity: Identity }): Result => {
    requireOperator(identity);
    return work(args);
  };

type Resolve = (parent: unknown, args: unknown, context: { identity: Identity }, info: unknown) => unknown;
type Mutations = Record<string, Resolve | { resolve: Resolve }>;

/** The same resolvers, of which no mutation begins for who may only read. Here, so that no service can forget it. */
export function guardMutations(resolvers: object): object {
  const { Mutation: mutations } = resolvers as { Mutation?: Mutations };
  if (!mutations) return resolvers;
  const guarded = Object.entries(mutations).map(([name, field]): [string, Resolve] => {
    const resolve = typeof field === 'function' ? field : field.resolve;
    return [
      name,
      (parent, args, context, info) => {
        requireWriting(context.identity);
        return resolve(parent, args, context, info);
      },
    ];
  });
  return { ...resolvers, Mutation: Object.fromEntries(guarded) };
}
