import { copyFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runStores, type Databases } from './stores.ts';

/** Contains an archive of each release, and the rows that a restore of it must bring back. */
export const RELEASES = fileURLToPath(new URL('../../services/backup/tests/fixtures/archives/', import.meta.url));

export type Rows = Record<string, unknown>[];

/** The rows that a restore must bring back, with the columns that the store had at the release. */
export type ReleasedRows = Record<'tasks' | 'accounts' | 'audit_log', Rows>;

/** Rows with every kind of value that the columns allow. */
const ACCOUNTS = `
  insert into accounts (id, email, email_key, name, password_hash, password_version, email_confirmed_at, created_at, updated_at)
  select ('01890000-0000-7000-8000-00000000000' || n)::uuid, email, email_key, name,
    '$argon2id$v=19$m=19456,t=2,p=1$c29tZXRoaW5nIG9mIGE$c29tZXRoaW5nIG9mIHRoZSBsZW5ndGggb2YgYSBoYXNo',
    n, '2026-01-01T00:00:00.001Z', '2026-01-01T00:00Z', '9999-12-31T23:59:59.999Z'
  from (values
    (1, 'Ada@Example.test', 'ada@example.test', 'Ada'),
    (2, 'jörg@beispiel.test', 'jörg@beispiel.test', E'J\\u00f6rg \\U0001F331 "quoted" \\\\ back'),
    (3, '漢字@example.test', '漢字@example.test', E'tab\\tline\\nbreak')
  ) as given (n, email, email_key, name)`;
const TRAIL = `
  insert into audit_log (at, kind, account_id, session_id, ip, request_id)
  select timestamptz '2026-01-01T00:00Z' + n * interval '1 day', (array['account.created', 'session.opened', 'login.failed'])[1 + n % 3],
    case when n % 3 < 2 then '01890000-0000-7000-8000-000000000001'::uuid end,
    case when n % 3 = 1 then '01890000-0000-7000-8000-0000000000aa'::uuid end,
    (array['192.0.2.1', '2001:db8::1', null])[1 + n % 3], 'request ' || n
  from generate_series(1, 9) n`;
const TASKS = `
  insert into tasks (id, user_id, title, description, completed, due_date, category, priority, created_at, updated_at, version)
  select ('01890000-0000-7000-9000-' || lpad(n::text, 12, '0'))::uuid, ('01890000-0000-7000-8000-00000000000' || 1 + n % 3)::uuid,
    (array['plain', 'ünïcödé 漢字 🌱', E'\\\\. is no end', E'\\\\N is no null', E'tab\\tline\\nbreak\\r', 'COPY x FROM stdin;'])[1 + n % 6] || ' ' || n,
    case n % 4 when 0 then null when 1 then '' when 2 then repeat('🌱', 2000) else E'"\\\\''--;' end, n % 2 = 0,
    case n % 3 when 0 then timestamptz '0001-01-01T00:00Z' when 1 then '9999-12-31T23:59:59.999Z' end,
    case n % 3 when 0 then '' when 1 then 'home' end, (array['low', 'medium', 'high'])[1 + n % 3],
    timestamptz '2026-01-01T00:00:00.123Z' + n * interval '1 hour', '2026-02-01T00:00Z', n
  from generate_series(1, 24) n`;

export async function fill({ auth, tasks }: Databases): Promise<void> {
  await auth.query(ACCOUNTS);
  if (await hasTrail(auth)) await auth.query(TRAIL);
  await tasks.query(TASKS);
}

/** The first releases had no audit trail. */
async function hasTrail(auth: Databases['auth']): Promise<boolean> {
  const [found] = await auth.query(`select to_regclass('audit_log') is not null as there`);
  return found?.there === true;
}

/** Reads the rows of each table: the columns that `like` has, or all columns without `like`. */
export async function rowsOf({ auth, tasks }: Databases, like?: ReleasedRows): Promise<ReleasedRows> {
  const columnsOf = (name: keyof ReleasedRows) => Object.keys(like?.[name][0] ?? {});
  const read = async (database: Databases['auth'], name: keyof ReleasedRows): Promise<Rows> => {
    return (await database.query(`select to_jsonb(r) as row from ${name} r order by id`)).map(({ row }) => {
      const whole = row as Record<string, unknown>; // `to_jsonb` of a row is an object
      return like ? Object.fromEntries(columnsOf(name).map((column) => [column, whole[column]])) : whole;
    });
  };
  return {
    tasks: await read(tasks, 'tasks'),
    accounts: await read(auth, 'accounts'),
    audit_log: (await hasTrail(auth)) ? await read(auth, 'audit_log') : [],
  };
}

/** A restore keeps only the order of audit entries: a new installation numbers them after its own. */
export function withoutIds({ audit_log, ...others }: ReleasedRows): ReleasedRows {
  return { ...others, audit_log: audit_log.map(({ id: _id, ...entry }) => entry) };
}

/** Run this at a release, and commit the files that it makes: `<version>.tar.gz` and `<version>.json`. */
export async function makeReleaseArchive(version: string): Promise<string> {
  const stores = await runStores('release');
  await fill(stores);
  const { file } = await stores.work.create();
  await copyFile(join(stores.backupsDir, file), join(RELEASES, `${version}.tar.gz`));
  await writeFile(join(RELEASES, `${version}.json`), `${JSON.stringify(await rowsOf(stores), null, 1)}\n`);
  return join(RELEASES, `${version}.tar.gz`);
}
