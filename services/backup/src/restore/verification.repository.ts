import type { Database } from '@taskmesh/store';
import { VerificationEntity, type Verification } from './verification.entity.ts';

export type VerificationRepository = ReturnType<typeof createVerificationRepository>;

/** The journal of verifications. Each step is on disk when it resolves, and may be repeated. */
export function createVerificationRepository(database: Database) {
  return {
    all: (): Promise<Verification[]> => database.retry((em) => em.findAll(VerificationEntity)),

    begin: (verification: Verification): Promise<unknown> =>
      database.retry((em) => em.upsert(VerificationEntity, { ...verification })),

    end: (id: string): Promise<unknown> => database.retry((em) => em.nativeDelete(VerificationEntity, { id })),
  };
}
