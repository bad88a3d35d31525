import { checkOnlyTables, loadDump, LoadError } from '@taskmesh/pg-rows';
import { connect, disconnect } from '@taskmesh/store/connection';
import { withoutValues } from '@taskmesh/pg-rows/without-values';
import { makeTempDir } from '@taskmesh/testing';
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { MAX_TABLES } from '../../src/archives/limits.ts';
import { RESTORED_SCHEMA } from '../../src/databases/names.ts';
import { loadDump as loadInProcess } from '../../src/restore/load-dump.ts';
import { DATABASE_STATE, SERVER_STATE } from '../support/catalogue.ts';
import { createFreshTestDatabase, withClient } from '../support/databases.ts';
import { worstChildOf } from '../support/memory.ts';
import { startSecondServer } from '../support/second-server.ts';
import { hostileDump } from './hostile-grammar.ts';

/**
 * The state of a whole database, by catalogue, so that any change shows, not only those that we think of. A catalogue's row is
 * identified by its position and the transaction that wrote it, which neither statistics nor vacuum change.
 */
type Fingerprint = Record<string, string>;

type Query = (text: string, values?: unknown[]) => Promise<Record<string, unknown>[]>;

/** Builds the query only once, because there are about sixty catalogues. */
async function createFingerprint(query: Query): Promise<(query: Query) => Promise<Fingerprint>> {
  const found = await query(`
    select c.oid::regclass::text as name, nspname = 'pg_catalog' as "isCatalogue"
    from pg_class c join pg_namespace n on n.oid = relnamespace
    where relkind in ('r', 'S') and not relisshared and nspname in ('pg_catalog', 'public') and relname !~ '^pg_statistic(_ext_data)?$'`);
  const text = found
    .map(({ name, isCatalogue }) => {
      const row = isCatalogue ? `ctid::text || xmin::text` : `row(t.*)::text`;
      return `select '${name}' as name, concat(count(*), ' ', bit_xor(hashtextextended(${row}, 0))) as state from ${name} t`;
    })
    .join(' union all ');
  return async (ask) => Object.fromEntries((await ask(text)).map(({ name, state }) => [name, String(state)]));
}

/** Limit of the loading process, so that a whole restore stays within 128 MiB. */
const BOUND_MIB = 100;

/** How many dumps of each theme were loaded or rejected. */
type Tally = Record<string, { loaded: number; refused: number; isNoSql: number }>;

/** Creates objects of every kind, which no dump may change. */
const LIVING = `
  create table tasks (id int primary key, title text); insert into tasks values (1, 'living');
  grant select on tasks to public; alter table tasks enable row level security; create policy p on tasks using (true);
  create table u (id int references tasks, title text check (title <> '')); create sequence s; select nextval('s');
  create function f() returns trigger language plpgsql as 'begin return new; end'; create view v as select 1;
  create trigger t before insert on tasks for each row execute function f(); create domain loop as text;
  create type mood as enum ('a'); select lo_from_bytea(1, 'x'); comment on table tasks is 'ours';
  alter default privileges grant select on tables to public; create publication p; create statistics st on id, title from tasks`;

/** Finds the first letter of an emoji that was read as Latin 1, because of the encoding that a dump names. */
const MISREAD = `select relname from pg_class where relnamespace = 'restored'::regnamespace and relkind = 'r'
  and query_to_xml(format('select 1 from %s r where r::text like ''%%ð%%''', oid::regclass), true, true, '')::text like '%<row%'`;

/**
 * Loads the dumps of the seeds in sequence, and throws at the first one that did more than add rows. If `server` is given, each
 * is loaded in a separate process, as the service does.
 */
async function tryHostileDumps(seeds: Iterable<number>, server?: string): Promise<Tally> {
  const dir = makeTempDir();
  const database = await createFreshTestDatabase('hostile', server);
  const { live, names } = database;
  await live.query(LIVING);
  const tally: Tally = {};
  await withClient(database.adminUrl, async (fresh) => {
    const inFresh = async (text: string) => (await fresh.query(text)).rows;
    const livingPrint = await createFingerprint(live.query);
    const freshPrint = await createFingerprint(inFresh);
    const state = async () => ({
      living: [await live.query(DATABASE_STATE, [live.name]), await livingPrint(live.query)],
      fresh: [await live.query(DATABASE_STATE, [names.fresh]), await freshPrint(inFresh)],
      server: await live.query(SERVER_STATE, [live.name]),
      files: await readdir(dir),
    });
    const path = join(dir, 'database.sql');
    await writeFile(path, '');
    await inFresh('drop schema restored cascade');
    const before = await state();
    for (const seed of seeds) {
      await inFresh(`create schema restored; grant usage, create on schema restored to "${names.loader}"`);
      const { theme, dump } = hostileDump(seed, { ...names, mark: join(dir, 'mark') });
      await writeFile(path, dump);
      try {
        const end = await endOf(path, database.loaderUrl, server ? loadAsServiceDoes : loadHere);
        await checkOnlyTables(fresh, 'restored');
        expect(await inFresh(`select relname from pg_class where relnamespace = 'restored'::regnamespace and (relkind <> 'r' or relowner <> '${names.loader}'::regrole or relacl is not null)`)).toEqual([]); // prettier-ignore
        expect(await inFresh(MISREAD)).toEqual([]);
        await inFresh('drop schema restored cascade');
        expect(await state()).toEqual(before);
        const counts = (tally[theme] ??= { loaded: 0, refused: 0, isNoSql: 0 });
        counts[end === undefined ? 'loaded' : /it is no SQL/.test(end) ? 'isNoSql' : 'refused'] += 1;
      } catch (cause) {
        throw new Error(`The dump of seed ${seed} (${theme}) did more than bring rows.`, { cause });
      }
    }
  });
  return tally;
}

/** Returns why a dump was rejected; undefined if it was loaded. @throws Error if the load ended otherwise, or took too much memory */
async function endOf(path: string, url: string, load: typeof loadHere): Promise<string | undefined> {
  const error = await load(path, url).catch((error: unknown) => error);
  if (!(error instanceof Error)) return undefined;
  if (!(error instanceof LoadError) || /process has ended/.test(error.message)) throw error;
  return error.message;
}

/** Loads in this process, which is faster: the loading processes have tests of their own. */
async function loadHere(path: string, url: string): Promise<unknown> {
  const settings = { search_path: 'pg_catalog', statement_timeout: null };
  const client = await connect({ url, name: 'taskmesh-restore', settings });
  const load = { path, client, schema: RESTORED_SCHEMA, maxTables: MAX_TABLES, describe: withoutValues };
  return loadDump(load).finally(() => disconnect(client));
}

async function loadAsServiceDoes(path: string, url: string): Promise<unknown> {
  const signal = AbortSignal.timeout(30_000);
  const load = () => loadInProcess({ path, url, signal }).catch((error: unknown) => error);
  const { result, worstMib } = await worstChildOf(load);
  if (worstMib > BOUND_MIB) throw new Error(`The load had ${Math.round(worstMib)} MiB.`);
  return result;
}

const isLong = process.env.TASKMESH_LONG !== undefined;
/** Enough for every theme; a long run (npm run test:long) tries each theme many times. */
const DUMPS = isLong ? 460 : 51;
const THEMES = 17;

/** A server for this test only, because other tests change roles and origins meanwhile. */
const server = isLong ? await startSecondServer() : undefined;

it('a dump can only load rows: anything else in it is skipped or refused, and never executed', async () => {
  const seeds = Array.from({ length: DUMPS }, (_, index) => index + 1);
  const tally = Object.values(await tryHostileDumps(seeds, server));
  const sum = (key: 'loaded' | 'refused' | 'isNoSql') => tally.reduce((total, counts) => total + counts[key], 0);
  expect(tally).toHaveLength(THEMES);
  // Some dumps are loaded: the loader skips their harmful statements.
  expect([sum('loaded') > DUMPS / 6, sum('refused') > DUMPS / 4, sum('isNoSql') < DUMPS / 10]).toEqual([true, true, true]);
}, 3_600_000); // prettier-ignore
