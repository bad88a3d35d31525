import { adoptArchived, columnsOf, inTransaction, STORE } from '@taskmesh/database';
import type { Adoption, ArchivedStore } from '@taskmesh/internal-api';
import { hashOfNobody } from '../passwords/argon2-hash.ts';
import { LEFT_BEHIND, warnOfPasswords, type AdoptionParts } from './adopt-dump.ts';
import { ANALYZE, closeUnusable, DROP_RESTORED } from './adoption.statements.ts';
import { joinTrails, settledEnd, whyNoTrail } from './audit-trail.ts';
import { whyIncomplete } from './complete-store.ts';

export interface ArchiveParts extends AdoptionParts {
  archived: ArchivedStore;
  now: Date;
}

/** Takes accounts and the audit trail of an archive that was made by this service, at whatever version it was. */
export async function adoptArchive({ from, to, store, log, archived, now }: ArchiveParts): Promise<Adoption> {
  const taken = await adoptArchived({ session: to, store, archived, leftBehind: LEFT_BEHIND });
  if ('reason' in taken) return { complete: false, ...taken };
  const columns = await columnsOf(to, 'accounts', STORE);
  const reason = (await whyIncomplete(to, { schema: STORE, columns })) ?? (await whyNoTrail(to));
  if (reason !== undefined) return { complete: false, reason };
  const end = await settledEnd(from);
  await inTransaction(to, async () => {
    const [closed] = await to.run<{ unusable: string }>(closeUnusable(columns), [hashOfNobody()]);
    warnOfPasswords(log, closed?.unusable);
    await joinTrails({ from, to }, { end, now });
    await to.run(DROP_RESTORED);
    await to.run(ANALYZE);
  });
  return { complete: true, ...taken };
}
