import type { Identity } from '@taskmesh/identity';
import { requireWriting } from './guards.ts';

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
