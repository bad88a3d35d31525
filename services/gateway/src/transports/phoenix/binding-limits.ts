import type { Binding } from './bindings.ts';

export interface BindingLimitOptions {
  bindings: number;
  /** The sum for all distinct filters. */
  cost: number;
}

/** Limits how much work each change of a user may cost, across all of the user's sockets on this gateway. */
export interface BindingLimits {
  /** Undefined when the limit is exceeded. Call the returned function to release. */
  take(userId: string, bindings: readonly Binding[]): (() => void) | undefined;
}

interface Taken {
  bindings: number;
  cost: number;
  /** The number of bindings per filter text: equal filters are tested once per change. */
  filters: Map<string, number>;
}

export function createBindingLimits(limits: BindingLimitOptions): BindingLimits {
  const users = new Map<string, Taken>();

  return {
    take(userId, bindings) {
      if (bindings.length === 0) return () => {};
      const taken = users.get(userId) ?? { bindings: 0, cost: 0, filters: new Map<string, number>() };
      const filters = bindings.flatMap(({ filter }) => filter ?? []);
      const fresh = new Map(filters.map(({ text, cost }) => [text, taken.filters.has(text) ? 0 : cost]));
      const cost = [...fresh.values()].reduce((sum, each) => sum + each, 0);
      if (taken.bindings + bindings.length > limits.bindings || taken.cost + cost > limits.cost) return undefined;
      users.set(userId, taken);
      taken.bindings += bindings.length;
      taken.cost += cost;
      for (const { text } of filters) taken.filters.set(text, (taken.filters.get(text) ?? 0) + 1);
      return () => {
        taken.bindings -= bindings.length;
        for (const { text, cost } of filters) {
          const left = (taken.filters.get(text) ?? 1) - 1;
          if (left > 0) taken.filters.set(text, left);
          else {
            taken.filters.delete(text);
            taken.cost -= cost;
          }
        }
        if (taken.bindings === 0) users.delete(userId);
      };
    },
  };
}
