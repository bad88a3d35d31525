import type { Statement } from '@taskmesh/database';
import { copyRows, type CopiedTable, type Stores } from '@taskmesh/restore-import';
import { IS_HOUSEKEEPING } from '../audit/audit.statements.ts';

const FORGET_OTHER_LOG: Statement = { name: 'import-forget-account-log', text: 'truncate public.account_log' };

const STATE: Statement = {
  name: 'import-account-log-state',
  text: 'select epoch, last::text as last from public.account_log_state',
};

/** $1 epoch, $2 the last sequence */
const SET_STATE: Statement = {
  name: 'import-set-account-log-state',
  text: 'update public.account_log_state set epoch = $1::integer, last = $2::bigint',
};

const COUNT_ON: Statement = {
  name: 'import-count-on-account-log',
  text: 'update public.account_log_state set last = (select coalesce(max(sequence), 0) from public.account_log)',
};

const log: CopiedTable = {
  name: 'account_log',
  key: 'sequence',
  keyType: 'bigint',
  put: 'insert into public.account_log select * from batch',
};

const REMOVE_ACCOUNTS: Statement = {
  name: 'import-remove-deleted-accounts',
  text: 'delete from public.accounts where id in (select account_id from public.account_log)',
};

const UNLOCK_TRAIL: Statement = { name: 'import-erase-trail-of-deleted', text: IS_HOUSEKEEPING };

const ERASE_TRAIL: Statement = {
  name: 'import-erase-trail',
  text: `
    delete from public.audit_log
    where account_id in (select account_id from public.account_log) and kind <> 'account.deleted'`,
};

/**
 * Runs inside a transaction in `to`. Copies the account log, so that its readers keep their position, and removes deleted
 * accounts that the archive still contains. If no account was ever deleted here, as in a new installation, the archive's own
 * log is kept: other stores of the archive may still contain something of those accounts.
 */
export async function removeDeletedAccounts(stores: Stores): Promise<void> {
  const { from, to } = stores;
  const [state] = await from.run<{ epoch: number; last: string }>(STATE);
  if (state && state.last !== '0') {
    await to.run(FORGET_OTHER_LOG);
    await to.run(SET_STATE, [state.epoch, state.last]);
    await copyRows(stores, log);
  } else await to.run(COUNT_ON);
  await to.run(REMOVE_ACCOUNTS);
  await to.run(UNLOCK_TRAIL);
  await to.run(ERASE_TRAIL);
}
