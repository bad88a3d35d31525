import { copyRows, type CopiedTable } from '@taskmesh/pg-rows/mirror';
import type { Stores } from '@taskmesh/store';
import { MARK_HOUSEKEEPING } from '../audit/audit.statements.ts';

/** Saves the archive's own log, or what an earlier call has left of it. */
const KEEP_OWN_LOG = 'create temporary table own_log on commit drop as select * from public.account_log';

const FORGET_OWN_LOG = 'truncate public.account_log';

const STATE = 'select epoch, last::text as last from public.account_log_state';

/** $1 epoch, $2 the last sequence */
const SET_STATE = 'update public.account_log_state set epoch = $1::integer, last = $2::bigint';

/**
 * Appends the archive's entries that the live log lacks, so that its readers see them. They begin a new epoch, because readers may
 * return to the live store, where other entries can get the same sequences.
 */
const APPEND_OWN_LOG = `
    with appended as (
      insert into public.account_log (sequence, account_id, kind, occurred_at)
      select state.last + row_number() over (order by own.sequence), own.account_id, own.kind, own.occurred_at
      from pg_temp.own_log own, public.account_log_state state
      where not exists (
        select 1 from public.account_log known where known.account_id = own.account_id and known.kind = own.kind
      )
      returning 1
    )
    update public.account_log_state set epoch = epoch + 1, last = last + (select count(*) from appended)
    where exists (select 1 from appended)`;

const log: CopiedTable = {
  name: 'account_log',
  key: 'sequence',
  keyType: 'bigint',
  put: 'insert into public.account_log select * from batch where sequence <= $2::bigint',
};

const REMOVE_ACCOUNTS = 'delete from public.accounts where id in (select account_id from public.account_log)';

const ERASE_TRAIL = `
    delete from public.audit_log
    where account_id in (select account_id from public.account_log) and kind <> 'account.deleted'`;

/**
 * Runs inside a transaction in `to`. Copies the account log, so that its readers keep their position, and removes deleted
 * accounts that the archive still contains. Deletions that only the archive's log contains are kept: older archives must not bring
 * these accounts back, and stores of other services may still contain their data.
 */
export async function removeDeletedAccounts(stores: Stores): Promise<void> {
  const { from, to } = stores;
  const [state] = await from.run<{ epoch: number; last: string }>(STATE);
  if (!state) throw new Error('The store has no state of its account log.');
  await to.run(KEEP_OWN_LOG);
  await to.run(FORGET_OWN_LOG);
  await to.run(SET_STATE, [state.epoch, state.last]);
  await copyRows(stores, log, { values: [state.last] }); // more accounts may be deleted meanwhile
  await to.run(APPEND_OWN_LOG);
  await to.run(REMOVE_ACCOUNTS);
  await to.run(MARK_HOUSEKEEPING);
  await to.run(ERASE_TRAIL);
}
