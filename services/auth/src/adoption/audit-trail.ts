import { inTransaction, type Session, type Statement } from '@taskmesh/database';
import { copyRows, type CopiedTable } from './copy-rows.ts';

const trail: CopiedTable = {
  name: 'audit_log',
  key: 'id',
  keyType: 'bigint',
  put: 'insert into public.audit_log overriding system value select * from batch where id <= $2::bigint',
};

const LOCK_TIMEOUT: Statement = { name: 'adopt-lock-timeout', text: `set local lock_timeout = '3s'` };
const LOCK: Statement = { name: 'adopt-lock-audit', text: 'lock table public.audit_log in share mode' };
const LAST: Statement = {
  name: 'adopt-last-audit',
  text: 'select coalesce(max(id), 0)::text as last from public.audit_log',
};

const GO_ON: Statement = {
  name: 'adopt-audit-go-on',
  text: `select setval(pg_get_serial_sequence('public.audit_log', 'id'), max(id)) from public.audit_log`,
};

/** The id of the last entry that can be seen. */
export async function endOfTrail(session: Session): Promise<string> {
  const [row] = await session.run<{ last: string }>(LAST);
  return row?.last ?? '0';
}

/**
 * The last entry, with no older one still to be committed: ids are drawn before commits, so for a moment nobody may be
 * writing.
 */
export function settledEnd(living: Session): Promise<string> {
  return inTransaction(living, async () => {
    await living.run(LOCK_TIMEOUT);
    await living.run(LOCK);
    return endOfTrail(living);
  });
}

/** Copies the entries that are not there yet, up to `end`; entries must have been copied only up to such an end before. */
export async function copyTrail(sessions: { from: Session; to: Session }, end: string): Promise<void> {
  await copyRows(sessions, trail, { after: await endOfTrail(sessions.to), values: [end] });
  await sessions.to.run(GO_ON);
}
