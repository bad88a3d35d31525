import { AppError } from '@taskmesh/contracts';
import type { MutationResolvers } from './types.generated.ts';

/** Reports each mutation's outcome: `ok`, the code of an expected failure, or INTERNAL_SERVER_ERROR. */
export function watchMutations(
  mutations: MutationResolvers,
  onMutation: (name: string, outcome: string) => void,
): MutationResolvers {
  const watched = Object.entries(mutations).map(([name, resolver]) => {
    const resolve = (typeof resolver === 'function' ? resolver : resolver.resolve) as (...args: unknown[]) => unknown; // passed on unchanged
    return [
      name,
      async (...args: unknown[]) => {
        try {
          const result = await resolve(...args);
          onMutation(name, 'ok');
          return result;
        } catch (error) {
          onMutation(name, error instanceof AppError ? error.code : 'INTERNAL_SERVER_ERROR');
          throw error;
        }
      },
    ];
  });
  return Object.fromEntries(watched) as MutationResolvers; // the same names and signatures
}
