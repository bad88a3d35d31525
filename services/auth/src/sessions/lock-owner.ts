import { accountIsGone } from '../accounts/account.errors.ts';
import type { AccountChange, Caller } from '../accounts/account-change.repository.ts';
import { sessionHasEnded } from './session.errors.ts';

/**
 * Begins a change that an owner asks for, within its transaction. Gateways learn of an end a moment late, so only here is it certain
 * that the caller may still ask. Of two sessions that end each other, the second one finds that it has ended.
 * @throws AppError UNAUTHENTICATED
 */
export async function lockOwner(transaction: AccountChange, caller: Caller) {
  const account = await transaction.lockAccount(caller.userId);
  if (!account) throw accountIsGone();
  if (!(await transaction.lockCaller(caller))) throw sessionHasEnded();
  return account;
}
