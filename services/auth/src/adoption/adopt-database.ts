import {
  databaseOf,
  inDatabase,
  inTransaction,
  isUniqueViolation,
  openAdoptionSession,
  type Database,
  type Session,
} from '@taskmesh/database';
import { ADOPTION_MS, type Adoption, type ArchivedStore, type AuthRestore } from '@taskmesh/internal-api';
import type { Clock, Log } from '@taskmesh/service';
import { parseInput } from '@taskmesh/validation';
import { z } from 'zod';
import { adoptArchive } from './adopt-archive.ts';
import { adoptDump } from './adopt-dump.ts';
import { copyTrail, endOfTrail } from './audit-trail.ts';
import { copySessions } from './carry-over.ts';
import { compareStores } from './compare-stores.ts';

export interface AdoptionDeps {
  /** The living store's address: the restored one is beside it. */
  url: string;
  /** The service's database at another address; opens nothing yet. */
  databaseAt(url: string): Promise<Pick<Database, 'migrate' | 'versions' | 'close'>>;
  clock: Clock;
  log: Log;
}

/** Makes the database of a restored dump into a store, and gives it what belongs to the present. */
export function createAdoption({ url, databaseAt, clock, log }: AdoptionDeps): AuthRestore {
  const name = z
    .string()
    .regex(/^[^\0]{1,63}$/, 'That cannot be a database.')
    .refine((value) => value !== databaseOf(url), 'The living store is not for adoption.');

  const adopt = async (target: string, archived: ArchivedStore | null | undefined): Promise<Adoption> => {
    const store = await databaseAt(target);
    try {
      const now = new Date(clock.now());
      return await withStores(url, target, (sessions) =>
        archived ? adoptArchive({ ...sessions, store, log, archived, now }) : adoptDump({ ...sessions, store, log }),
      );
    } finally {
      await store.close();
    }
  };

  const carryOver = ({ from, to }: { from: Session; to: Session }): Promise<void> =>
    inTransaction(from, () =>
      inTransaction(to, async () => {
        await copySessions({ from, to }, new Date(clock.now()));
        await copyTrail({ from, to }, await endOfTrail(from));
      }),
    );

  return {
    async adopt(given, archived) {
      const target = inDatabase(url, parseInput(name, given));
      try {
        const adoption = await adopt(target, archived);
        log.info({ database: given, ...adoption }, 'looked at a restored database');
        return adoption;
      } catch (error) {
        if (!isUniqueViolation(error)) throw error;
        return { complete: false, reason: 'Two rows of the table accounts have the same id or the same address.' };
      }
    },
    async resume(given) {
      const target = inDatabase(url, parseInput(name, given));
      const store = await databaseAt(target);
      try {
        await withStores(url, target, () => store.migrate());
      } finally {
        await store.close();
      }
    },
    carryOver: async (given) => withStores(url, inDatabase(url, parseInput(name, given)), carryOver),
    compare: async (given) =>
      withStores(url, inDatabase(url, parseInput(name, given)), (stores) =>
        compareStores(stores, new Date(clock.now())),
      ),
  };
}

async function withStores<Result>(
  living: string,
  target: string,
  work: (stores: { from: Session; to: Session }) => Promise<Result>,
): Promise<Result> {
  const options = { name: 'taskmesh-auth-adoption', timeoutMs: ADOPTION_MS };
  const to = await openAdoptionSession(target, options);
  try {
    const from = await openAdoptionSession(living, options);
    try {
      return await work({ from, to });
    } finally {
      await from.close();
    }
  } finally {
    await to.close();
  }
}
