import { whileAway, type Database } from '@taskmesh/database';
import { VerificationEntity, type Verification } from './verification.entity.ts';

export type VerificationRepository = ReturnType<typeof createVerificationRepository>;

/** The journal of verifications. Each step is on disk when it resolves, and may be repeated. */
export function createVerificationRepository(database: Database) {
  return {
    all: (): Promise<Verification[]> => whileAway({ kind: 'read' }, () => database.em().findAll(VerificationEntity)),

    begin: (verification: Verification): Promise<unknown> =>
      whileAway({ kind: 'read' }, () => database.em().upsert(VerificationEntity, { ...verification })),

    end: (id: string): Promise<unknown> =>
      whileAway({ kind: 'read' }, () => database.em().nativeDelete(VerificationEntity, { id })),
  };
}
