import {
  columnsOf,
  inTransaction,
  RESTORED,
  whatIsLost,
  whyTooMany,
  type Database,
  type Session,
} from '@taskmesh/database';
import type { Adoption } from '@taskmesh/internal-api';
import type { Log } from '@taskmesh/service';
import { hashOfNobody } from '../passwords/argon2-hash.ts';
import { ANALYZE, DROP_RESTORED, TAKEN_COLUMNS, takeOver } from './adoption.statements.ts';
import { copyTrail, settledEnd } from './audit-trail.ts';
import { whyIncomplete } from './complete-store.ts';
import { missingAccountColumns } from './rules.ts';

/** What this service's own dumps hold that is made anew, or comes from the living store. */
export const LEFT_BEHIND = [
  ...['sessions', 'refresh_tokens', 'reset_tokens', 'recovery_requests'],
  ...['ended_sessions', 'ended_session_counter', 'mikro_orm_migrations'],
];

export interface AdoptionParts {
  /** In the living store. */
  from: Session;
  /** In the restored database. */
  to: Session;
  /** The service's own database there. */
  store: Pick<Database, 'migrate' | 'versions'>;
  log: Log;
}

/** Takes the accounts of a dump that somebody else made, and nothing but them: a trail is worth what its keeper is. */
export async function adoptDump({ from, to, store, log }: AdoptionParts): Promise<Adoption> {
  const tooMany = await whyTooMany(to);
  if (tooMany !== undefined) return { complete: false, reason: tooMany };
  const columns = await columnsOf(to, 'accounts');
  const reason = missingAccountColumns(columns) ?? (await whyIncomplete(to, { schema: RESTORED, columns }));
  if (reason !== undefined) return { complete: false, reason };
  await store.migrate();
  const dropped = await whatIsLost(to, { accounts: TAKEN_COLUMNS }, [...LEFT_BEHIND, 'audit_log']);
  const end = await settledEnd(from);
  const accounts = await inTransaction(to, async () => {
    const [taken] = await to.run<{ count: string; unusable: string }>(takeOver(columns), [hashOfNobody()]);
    warnOfPasswords(log, taken?.unusable);
    await copyTrail({ from, to }, end);
    await to.run(DROP_RESTORED);
    await to.run(ANALYZE);
    return Number(taken?.count);
  });
  return { complete: true, rows: { accounts }, dropped };
}

export function warnOfPasswords(log: Log, unusable: string | undefined): void {
  if (Number(unusable) > 0)
    log.warn({ accounts: Number(unusable) }, 'restored accounts whose passwords must be set anew by mail');
}
