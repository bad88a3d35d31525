import { conflict } from '@taskmesh/contracts';
import { isReadOnly } from './failures.ts';

/** For what an operator does to a store and may have frozen it for: says so, instead of that it is unavailable. */
export async function unlessFrozen<Result>(store: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (!isReadOnly(error)) throw error;
    throw conflict(`The store ${store} takes no writes (default_transaction_read_only): let it, then repeat this.`);
  }
}
