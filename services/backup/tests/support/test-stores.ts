import { inDatabase } from '@taskmesh/store';
import { createRecordingLog } from '@taskmesh/service/testing';
import { administer, atEnd, query, requiredAddress, whileLocked, type TestDatabase } from '@taskmesh/testing';
import { randomBytes } from 'node:crypto';
import { DEFAULT_SIZES } from '../../src/archives/limits.ts';
import { newRestore } from '../../src/restore/restore-stores.ts';
import type { Restore } from '../../src/restore/restore.entities.ts';
import type { RestoreRepository } from '../../src/restore/restore.repository.ts';
import { namesOf } from '../../src/restore/settle-restore.ts';
import { loadLimits } from '../../src/restore/watch-database.ts';
import { DEFAULT_TIMEOUTS } from '../../src/stall-detection.ts';
import type { Store, StoreName } from '../../src/databases/store.ts';
import { asRole } from './databases.ts';

export const NOW = new Date('2026-11-22T12:00:00Z');
export const KEPT_MS = 3_600_000;
const STORES = ['tasks', 'auth'] as const;
/** The restore. Other test files, which run on the same server, have others. */
const ID = randomBytes(5).toString('hex');
/** The states of the stores before and after a swap. */
export const UNTOUCHED = ['live: former, fresh: new', 'live: former, fresh: new'];
export const SWAPPED = ['live: new, old: (former)', 'live: new, old: (former)'];

/**
 * Creates all that a swap sees: two stores, which are only databases, those that a restore has put beside them, and the
 * journal of that restore.
 */
export async function createTestStores() {
  const mark = randomBytes(5).toString('hex');
  const administrator = `test_stores_${mark}`;
  await administer(`create role ${administrator} superuser login password 'secret'`);
  // A database of another administrator cannot be in the same transaction, so a restore treats it as on another server.
  const otherServer = asRole(requiredAddress('POSTGRES_URL'), administrator);
  const liveOf = (each: StoreName) => `test_stores_${each}_${mark}`;
  /** The databases' ids by what they are. */
  const ids = new Map<string, string>();
  const columns = 'datname as name, oid::text as id, datallowconn as open';
  const databases = () =>
    administer(`select ${columns} from pg_database where datname like $1`, [`test\\_stores\\_%${mark}%`]);
  const dropAll = async () => {
    for (const { name } of await databases()) await administer(`drop database ${String(name)} with (force)`);
  };
  atEnd(async () => {
    await dropAll();
    await administer(`drop role ${administrator}`);
  });

  return {
    /** `undoes`: the restore that is being undone, if any. `isApart`: whether the stores have no server in common. */
    async begin({ undoes = null, isApart = false }: { undoes?: string | null; isApart?: boolean } = {}) {
      const server = requiredAddress('POSTGRES_URL');
      const servers = { tasks: server, auth: isApart ? otherServer : server };
      const store = (name: StoreName): Store => ({
        name,
        adminUrl: inDatabase(servers[name], liveOf(name)),
        owner: { importDatabase: unwanted, compare: unwanted, resume: async () => undefined },
      });
      const stores = { tasks: store('tasks'), auth: store('auth') };
      const restore = { id: ID, undoes };
      const names = { tasks: namesOf(stores.tasks, restore), auth: namesOf(stores.auth, restore) };
      await dropAll();
      const create = async (what: string, name: string) => {
        await administer(`create database ${name}`);
        const [row] = await administer('select oid::text as id from pg_database where datname = $1', [name]);
        ids.set(what, String(row?.id));
      };
      const createBoth = (each: StoreName) => [
        create(`former ${each}`, names[each].live),
        create(`new ${each}`, names[each].fresh),
      ];
      await Promise.all(STORES.flatMap(createBoth));
      const line = newRestore({ now: () => NOW }, { id: ID, file: 'a.tar.gz', stores: [...STORES], undoes });
      const { log, lines: logged } = createRecordingLog('debug');

      return {
        stores,
        names,
        line,
        journal: journalOf(line),
        acceptsNewerSchema: false,
        keepOldMs: KEPT_MS,
        loadLimits: loadLimits(DEFAULT_SIZES),
        timeouts: DEFAULT_TIMEOUTS,
        now: () => NOW,
        ...{ log, logged },
        freshIds: { tasks: ids.get('new tasks') ?? '', auth: ids.get('new auth') ?? '' },

        /** Describes each store, e.g. `live: former, fresh: new`. Databases that accept no connections are in parentheses. */
        async state(): Promise<string[]> {
          const found = new Map((await databases()).map((database) => [database.name, database]));
          return STORES.map((each) => {
            const { live, fresh, old } = names[each];
            const whatIs = (id: unknown) =>
              ['former', 'new'].find((what) => ids.get(`${what} ${each}`) === id) ?? 'strange';
            const described = Object.entries({ live, fresh, old }).flatMap(([place, name]) => {
              const database = found.get(name);
              return database ? [`${place}: ${database.open ? whatIs(database.id) : `(${whatIs(database.id)})`}`] : [];
            });
            return described.join(', ');
          });
        },

        /** Leaves a store as an interrupted swap does. */
        async swap(each: StoreName, { open }: { open: boolean }): Promise<void> {
          const { live, fresh, old } = names[each];
          await administer(`alter database ${live} rename to ${old}`);
          await administer(`alter database ${fresh} rename to ${live}`);
          await administer(`alter database ${old} allow_connections false`);
          await administer(`alter database ${live} allow_connections ${open}`);
        },
      };
    },
  };
}

/** Runs `work` while another instance still works on the restore, which ends once `work` waits for it. */
export function whileAnotherWorks<Result>(work: () => Promise<Result>, meanwhile: () => unknown): Promise<Result> {
  const url = inDatabase(requiredAddress('POSTGRES_URL'), 'postgres');
  const server = { url, query: (...statement) => query(url, ...statement) } as TestDatabase;
  const lock = `select pg_advisory_xact_lock(hashtextextended('taskmesh-restore ' || current_user || ' ${ID}', 0))`;
  return whileLocked(server, [lock], work, { query: '^select pg_advisory_lock.hashtextextended', meanwhile });
}

const unwanted = () => Promise.reject(new Error('This is not expected here.'));

/** Returns a journal with one entry. */
function journalOf(line: Restore): RestoreRepository {
  const isEnded = () => line.endedAt !== null;
  return {
    unfinished: async () => (isEnded() ? [] : [{ ...line }]),
    overdue: unwanted,
    kept: unwanted,
    find: async () => ({ ...line }),
    begin: async (begun) => Object.assign(line, begun),
    async reach(_id, values) {
      if (isEnded()) throw new Error('Another instance settled it.');
      Object.assign(line, values);
    },
    async end({ stage }, end) {
      if (isEnded() || line.stage !== stage) return false;
      Object.assign(line, { stage: end.stage, endedAt: end.at, leftUntil: end.leftUntil });
      return true;
    },
    leftNothing: async () => Object.assign(line, { leftUntil: null }),
  };
}
