import {
  columnsOf,
  databaseOf,
  inDatabase,
  inTransaction,
  openSession,
  tablesBeside,
  type Database,
  type Session,
} from '@taskmesh/database';
import type { Adoption, AuthRestore } from '@taskmesh/internal-api';
import type { Clock, Log } from '@taskmesh/service';
import { parseInput } from '@taskmesh/validation';
import { z } from 'zod';
import { hashOfNobody } from '../passwords/argon2-hash.ts';
import { ANALYZE, DROP_RESTORED, takeOver } from './adoption.statements.ts';
import { copyTrail, endOfTrail, settledEnd } from './audit-trail.ts';
import { copySessions } from './carry-over.ts';
import { whyIncomplete } from './complete-store.ts';

/** As long as backup waits for the answer. */
const PATIENCE_MS = 10 * 60_000;

/** What this service's own dumps hold besides the accounts; it is made anew, or comes from the living store. */
const OWN_TABLES = [
  ...['accounts', 'sessions', 'refresh_tokens', 'reset_tokens', 'recovery_requests'],
  ...['ended_sessions', 'ended_session_counter', 'audit_log', 'mikro_orm_migrations'],
];

export interface AdoptionDeps {
  /** The living store's address: the restored one is beside it. */
  url: string;
  /** The service's database at another address; opens nothing yet. */
  databaseAt(url: string): Promise<Pick<Database, 'migrate' | 'close'>>;
  clock: Clock;
  log: Log;
}

/** Makes the database of a restored dump into a store, and gives it what belongs to the present. */
export function createAdoption({ url, databaseAt, clock, log }: AdoptionDeps): AuthRestore {
  const name = z
    .string()
    .regex(/^[^\0]{1,63}$/, 'That cannot be a database.')
    .refine((value) => value !== databaseOf(url), 'The living store is not for adoption.');

  const migrate = async (target: string): Promise<void> => {
    const store = await databaseAt(target);
    try {
      await store.migrate();
    } finally {
      await store.close();
    }
  };

  const adopt = async ({ from, to }: { from: Session; to: Session }, target: string): Promise<Adoption> => {
    const columns = await columnsOf(to, 'accounts');
    const reason = await whyIncomplete(to, columns);
    if (reason !== undefined) return { complete: false, reason };
    await migrate(target);
    const dropped = await tablesBeside(to, OWN_TABLES);
    const end = await settledEnd(from);
    const accounts = await inTransaction(to, async () => {
      const [taken] = await to.run<{ count: string; unusable: string }>(takeOver(columns), [hashOfNobody()]);
      if (Number(taken?.unusable) > 0)
        log.warn({ accounts: Number(taken?.unusable) }, 'restored accounts whose passwords must be set anew by mail');
      // What happened stays known, and the dump has only an older part of it.
      await copyTrail({ from, to }, end);
      await to.run(DROP_RESTORED);
      await to.run(ANALYZE);
      return Number(taken?.count);
    });
    return { complete: true, rows: { accounts }, dropped };
  };

  const carryOver = ({ from, to }: { from: Session; to: Session }): Promise<void> =>
    inTransaction(from, () =>
      inTransaction(to, async () => {
        await copySessions({ from, to }, new Date(clock.now()));
        await copyTrail({ from, to }, await endOfTrail(from));
      }),
    );

  return {
    async adopt(given) {
      const target = inDatabase(url, parseInput(name, given));
      try {
        const adoption = await withStores(url, target, (stores) => adopt(stores, target));
        log.info({ database: given, ...adoption }, 'looked at a restored database');
        return adoption;
      } catch (error) {
        if (!isDuplicate(error)) throw error;
        return { complete: false, reason: 'Two rows of the table accounts have the same id or the same address.' };
      }
    },
    async resume(given) {
      const target = inDatabase(url, parseInput(name, given));
      await withStores(url, target, () => migrate(target));
    },
    carryOver: async (given) => withStores(url, inDatabase(url, parseInput(name, given)), carryOver),
  };
}

async function withStores<Result>(
  living: string,
  target: string,
  work: (stores: { from: Session; to: Session }) => Promise<Result>,
): Promise<Result> {
  const options = { name: 'taskmesh-auth-adoption', settings: { statement_timeout: '0' }, timeoutMs: PATIENCE_MS };
  const to = await openSession({ url: target, ...options });
  try {
    const from = await openSession({ url: living, ...options });
    try {
      return await work({ from, to });
    } finally {
      await from.close();
    }
  } finally {
    await to.close();
  }
}

const UNIQUE_VIOLATION = '23505';

function isDuplicate(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === UNIQUE_VIOLATION;
}
