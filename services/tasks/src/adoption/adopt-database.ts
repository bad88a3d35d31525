import {
  brokenRules,
  columnsOf,
  databaseOf,
  inDatabase,
  inTransaction,
  missingColumns,
  openSession,
  tablesBeside,
  type Columns,
  type Database,
  type Session,
} from '@taskmesh/database';
import type { Adoption, TasksRestore } from '@taskmesh/internal-api';
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
import { BLANKS, rulesFor, TASK_TYPES } from './rules.ts';

/** As long as backup waits for the answer. */
const PATIENCE_MS = 10 * 60_000;

/** What this service's own dumps hold besides the tasks; it is made anew. */
const OWN_TABLES = [
  ...['tasks', 'feeds', 'changes', 'feed_state', 'dead_letters', 'idempotency_keys'],
  'mikro_orm_migrations',
];

export interface AdoptionDeps {
  /** The living store. */
  database: Pick<Database, 'run'>;
  /** Its address: the restored one is beside it. */
  url: string;
  /** The service's database at another address; opens nothing yet. */
  databaseAt(url: string): Promise<Pick<Database, 'migrate' | 'close'>>;
  log: Log;
}

/** Makes the database of a restored dump into a store. No row passes through this process. */
export function createAdoption({ database, url, databaseAt, log }: AdoptionDeps): TasksRestore {
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

  const livingEpoch = async (): Promise<number> => {
    const [state] = await database.run<{ epoch: number }>('read', STATE, []);
    return state?.epoch ?? 0;
  };

  const adopt = async (session: Session, target: string): Promise<Adoption> => {
    const columns = await columnsOf(session, 'tasks');
    const reason = await whyIncomplete(session, columns);
    if (reason !== undefined) return { complete: false, reason };
    await migrate(target);
    const dropped = await tablesBeside(session, OWN_TABLES);
    const tasks = await inTransaction(session, async () => {
      const [taken] = await session.run<{ count: string }>(takeOver(columns));
      const epoch = 1 + Math.max(await livingEpoch(), await epochOfDump(session));
      await session.run(BEGIN_EPOCH, [epoch]);
      await session.run(DROP_RESTORED);
      await session.run(ANALYZE);
      return Number(taken?.count);
    });
    return { complete: true, rows: { tasks }, dropped };
  };

  return {
    async adopt(given) {
      const target = inDatabase(url, parseInput(name, given));
      try {
        const adoption = await withSession(target, (session) => adopt(session, target));
        log.info({ database: given, ...adoption }, 'looked at a restored database');
        return adoption;
      } catch (error) {
        if (!isDuplicate(error)) throw error;
        return { complete: false, reason: 'Two rows of the table tasks have the same id.' };
      }
    },
    async resume(given) {
      const target = inDatabase(url, parseInput(name, given));
      await withSession(target, async (session) => {
        await migrate(target);
        await inTransaction(session, async () => {
          await session.run(FORGET_CHANGES);
          await session.run(RESUME, [await livingEpoch()]);
        });
      });
    },
  };
}

async function withSession<Result>(target: string, work: (session: Session) => Promise<Result>): Promise<Result> {
  const session = await openSession({
    url: target,
    name: 'taskmesh-tasks-adoption',
    settings: { statement_timeout: '0' },
    timeoutMs: PATIENCE_MS,
  });
  try {
    return await work(session);
  } finally {
    await session.close();
  }
}

async function whyIncomplete(session: Session, columns: Columns): Promise<string | undefined> {
  return (
    missingColumns('tasks', Object.keys(TASK_TYPES), columns) ??
    (await brokenRules(session, 'tasks', rulesFor(columns), [BLANKS]))
  );
}

async function epochOfDump(session: Session): Promise<number> {
  const columns = await columnsOf(session, 'feed_state');
  if (!columns.has('epoch')) return 0;
  const [state] = await session.run<{ epoch: number }>(restoredEpoch(columns));
  return state?.epoch ?? 0;
}

const UNIQUE_VIOLATION = '23505';

function isDuplicate(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === UNIQUE_VIOLATION;
}
