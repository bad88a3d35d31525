import {
  adoptArchived,
  brokenRules,
  columnsOf,
  compareRows,
  databaseOf,
  inDatabase,
  inTransaction,
  isUniqueViolation,
  missingColumns,
  openAdoptionSession,
  RESTORED,
  STORE,
  whatIsLost,
  whyTooMany,
  type Database,
  type Session,
} from '@taskmesh/database';
import { ADOPTION_MS, type Adoption, type ArchivedStore, type TasksRestore } from '@taskmesh/internal-api';
import type { Log } from '@taskmesh/service';
import { parseInput } from '@taskmesh/validation';
import { z } from 'zod';
import { STATE } from '../feed/feed.statements.ts';
import {
  ANALYZE,
  BEGIN_EPOCH,
  DROP_RESTORED,
  FORGET_CHANGES,
  restoredEpoch,
  RESUME,
  takeOver,
} from './adoption.statements.ts';
import { archivedRulesFor, BLANKS, NEEDED_COLUMNS, rulesFor, TASK_COLUMNS } from './rules.ts';

/** What this service's own dumps hold besides the tasks; it is made anew. */
const LEFT_BEHIND = ['feeds', 'changes', 'feed_state', 'dead_letters', 'idempotency_keys', 'mikro_orm_migrations'];

export interface AdoptionDeps {
  /** The living store. */
  database: Pick<Database, 'run'>;
  /** Its address: the restored one is beside it. */
  url: string;
  /** The service's database at another address; opens nothing yet. */
  databaseAt(url: string): Promise<Pick<Database, 'migrate' | 'versions' | 'close'>>;
  /** In the living store; tells everybody. */
  beginEpoch: TasksRestore['newEpoch'];
  log: Log;
}

type Store = Pick<Database, 'migrate' | 'versions'>;

/** Makes the database of a restored dump into a store. No row passes through this process. */
export function createAdoption({ database, url, databaseAt, beginEpoch: newEpoch, log }: AdoptionDeps): TasksRestore {
  const name = z
    .string()
    .regex(/^[^\0]{1,63}$/, 'That cannot be a database.')
    .refine((value) => value !== databaseOf(url), 'The living store is not for adoption.');

  const livingEpoch = async (): Promise<number> => {
    const [state] = await database.run<{ epoch: number }>('read', STATE, []);
    return state?.epoch ?? 0;
  };

  const beginEpoch = async (session: Session) => {
    const epoch = 1 + Math.max(await livingEpoch(), await epochOfDump(session));
    await session.run(BEGIN_EPOCH, [epoch]);
    await session.run(DROP_RESTORED);
    await session.run(ANALYZE);
  };

  const adoptDump = async (session: Session, store: Store): Promise<Adoption> => {
    const tooMany = await whyTooMany(session);
    if (tooMany !== undefined) return { complete: false, reason: tooMany };
    const columns = await columnsOf(session, 'tasks');
    const reason =
      missingColumns('tasks', NEEDED_COLUMNS, columns) ??
      (await brokenRules(session, { schema: RESTORED, table: 'tasks' }, rulesFor(columns), [BLANKS]));
    if (reason !== undefined) return { complete: false, reason };
    await store.migrate();
    const kept = TASK_COLUMNS.map(({ column }) => column);
    const dropped = await whatIsLost(session, { tasks: kept }, LEFT_BEHIND);
    const tasks = await inTransaction(session, async () => {
      const [taken] = await session.run<{ count: string }>(takeOver(columns));
      await beginEpoch(session);
      return Number(taken?.count);
    });
    return { complete: true, rows: { tasks }, dropped };
  };

  const adoptArchive = async (session: Session, store: Store, archived: ArchivedStore): Promise<Adoption> => {
    const taken = await adoptArchived({ session, store, archived, leftBehind: LEFT_BEHIND });
    if ('reason' in taken) return { complete: false, ...taken };
    const rules = archivedRulesFor(await columnsOf(session, 'tasks', STORE));
    const reason = await brokenRules(session, { schema: STORE, table: 'tasks' }, rules, [BLANKS]);
    if (reason !== undefined) return { complete: false, reason };
    await inTransaction(session, () => beginEpoch(session));
    return { complete: true, ...taken };
  };

  const targetOf = (given: string): string => inDatabase(url, parseInput(name, given));

  const withTarget = async <Result>(given: string, work: (session: Session, store: Store) => Promise<Result>) => {
    const target = targetOf(given);
    return withSession(target, async (session) => {
      const store = await databaseAt(target);
      try {
        return await work(session, store);
      } finally {
        await store.close();
      }
    });
  };

  return {
    async adopt(given, archived) {
      try {
        const adoption = await withTarget(given, (session, store) =>
          archived ? adoptArchive(session, store, archived) : adoptDump(session, store),
        );
        log.info({ database: given, ...adoption }, 'looked at a restored database');
        return adoption;
      } catch (error) {
        if (!isUniqueViolation(error)) throw error;
        return { complete: false, reason: 'Two rows of the table tasks have the same id.' };
      }
    },
    newEpoch,
    async compare(given) {
      const target = targetOf(given);
      const tasks = await withSession(url, (from) => withSession(target, (to) => compareRows({ from, to }, 'tasks')));
      return { tables: { tasks } };
    },
    resume: (given) =>
      withTarget(given, async (session, store) => {
        await store.migrate();
        await inTransaction(session, async () => {
          await session.run(FORGET_CHANGES);
          await session.run(RESUME, [await livingEpoch()]);
        });
      }),
  };
}

async function withSession<Result>(at: string, work: (session: Session) => Promise<Result>): Promise<Result> {
  const session = await openAdoptionSession(at, { name: 'taskmesh-tasks-adoption', timeoutMs: ADOPTION_MS });
  try {
    return await work(session);
  } finally {
    await session.close();
  }
}

async function epochOfDump(session: Session): Promise<number> {
  const columns = await columnsOf(session, 'feed_state');
  if (!columns.has('epoch')) return 0;
  const [state] = await session.run<{ epoch: number }>(restoredEpoch(columns));
  return state?.epoch ?? 0;
}
