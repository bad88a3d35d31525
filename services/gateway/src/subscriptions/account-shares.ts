import pLimit, { type LimitFunction } from 'p-limit';

/** What each change costs besides the objects of the result: its text, and a frame for each subscription. */
const COST_PER_RENDERING = 250;
/** How much of an account's results is put together in one turn of the event loop. */
const AT_ONCE = 2;

/** A subscription's part in what each change of its account costs. */
export interface Share {
  /** Runs the work of one event, so that no account takes the process for itself. */
  readonly inTurn: LimitFunction;
  release(): void;
}

/** Bounds what one change of an account costs, over all its subscriptions and sockets at this gateway. */
export interface AccountShares {
  /**
   * Subscriptions with equal keys share their results, and count once. Undefined when the account's subscriptions would
   * exceed the limit.
   */
  take(accountId: string, key: string, cost: number): Share | undefined;
}

interface Account {
  cost: number;
  /** The number of subscriptions by key. */
  renderings: Map<string, number>;
  inTurn: LimitFunction;
}

/** `maxCost` is the limit for the sum of all results of one change; 0: none. */
export function createAccountShares(maxCost: number): AccountShares {
  const accounts = new Map<string, Account>();

  return {
    take(accountId, key, costOfResult) {
      const account = accounts.get(accountId) ?? { cost: 0, renderings: new Map(), inTurn: pLimit(AT_ONCE) };
      const known = account.renderings.get(key) ?? 0;
      const cost = COST_PER_RENDERING + costOfResult;
      // The first one is always admitted: a strict limit for documents must not switch subscriptions off.
      const isOver = maxCost > 0 && account.renderings.size > 0 && account.cost + cost > maxCost;
      if (known === 0 && isOver) return undefined;
      accounts.set(accountId, account);
      if (known === 0) account.cost += cost;
      account.renderings.set(key, known + 1);
      return {
        inTurn: account.inTurn,
        release() {
          const left = (account.renderings.get(key) ?? 1) - 1;
          if (left > 0) return void account.renderings.set(key, left);
          account.renderings.delete(key);
          account.cost -= cost;
          if (account.renderings.size === 0) accounts.delete(accountId);
        },
      };
    },
  };
}
