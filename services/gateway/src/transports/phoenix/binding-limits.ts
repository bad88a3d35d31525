import type { Binding } from './bindings.ts';

export interface BindingLimitOptions {
  bindings: number;
  /** Of all filters that differ. */
  cost: number;
}

/** What the channels of one user may ask of each of their changes, over all sockets of a gateway. */
export interface BindingLimits {
  /** Undefined when it would be too much. The returned function gives it back. */
  take(userId: string, bindings: readonly Binding[]): (() => void) | undefined;
}

interface Taken {
  bindings: number;
  cost: number;
  /** How many bindings have a filter, by its text: equal ones are looked at once for each change. */
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
