import { startEmbedded } from '@taskmesh/all-in-one';
import { createBackup, readBackupConfig } from '@taskmesh/backup';
import { findFreePort, INNER_SERVICES, provideProgram, startChild, untilReady } from '@taskmesh/local';
import { createLog, systemClock } from '@taskmesh/service';
import { atEnd, createTestDatabase, makeTempDir, query, requiredAddress } from '@taskmesh/testing';
import { randomBytes } from 'node:crypto';
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { useEmbedded } from '../../embedded.ts';
import { createRest } from '../../http.ts';
import { describeJourney } from '../journey/journey.ts';
import { describeRestore } from '../journey/restore.ts';

const REMEDY =
  'There is no PgBouncer on this machine, which this test needs. Install it ("apt-get install pgbouncer", "brew install pgbouncer").';

/** Starts PgBouncer in front of the server, configured as CloudNativePG does it. Returns the URL of the server through it. */
async function startPgBouncer(poolMode: 'session' | 'transaction') {
  const log = (line: string) => void process.stderr.write(`${line}\n`);
  const command = await provideProgram(['pgbouncer'], { package: 'pgbouncer', log, remedy: REMEDY });
  const [behind, url] = [new URL(server), new URL(server)];
  const port = await findFreePort();
  url.port = String(port);
  const dir = makeTempDir();
  chmodSync(dir, 0o755); // as root, PgBouncer runs as another user
  const password = decodeURIComponent(behind.password);
  writeFileSync(join(dir, 'users.txt'), `"${behind.username}" "${password}"\n`, { mode: 0o644 });
  writeFileSync(
    join(dir, 'pgbouncer.ini'),
    `[databases]
* = host=${behind.hostname} port=${behind.port}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
pool_mode = ${poolMode}
ignore_startup_parameters = extra_float_digits,options
server_reset_query = DISCARD ALL
server_login_retry = 1
max_client_conn = 1000
default_pool_size = 50
auth_type = scram-sha-256
auth_file = ${join(dir, 'users.txt')}
auth_user = ${behind.username}
auth_query = select usename, passwd from pg_catalog.pg_shadow where usename = $1
`,
  );
  const args = [...(process.getuid?.() === 0 ? ['-u', 'postgres'] : []), join(dir, 'pgbouncer.ini')];
  const child = await startChild({ command, args, logFile: join(dir, 'log'), ladder: [['SIGINT', 5_000]] });
  const ready = () => query(url.href, 'select 1').then(Boolean, () => false);
  await untilReady(child, { name: 'PgBouncer', ready, intervalMs: 50 });
  return { url: url.href, release: () => child.stop() };
}

/** Settings that operators make for a role or a database, and that change how text, times, names and failures behave. */
const ROLE_SETTINGS = {
  datestyle: 'SQL, DMY',
  search_path: 'app, extensions',
  bytea_output: 'escape',
  standard_conforming_strings: 'off',
  default_transaction_isolation: 'serializable',
  statement_timeout: '300ms',
  lock_timeout: '1ms',
  exit_on_error: 'on',
  transform_null_equals: 'on',
};
const DATABASE_SETTINGS = {
  timezone: 'Asia/Kolkata',
  intervalstyle: 'sql_standard',
  extra_float_digits: '-15',
  client_encoding: 'LATIN1',
  default_transaction_deferrable: 'on',
  idle_in_transaction_session_timeout: '50ms',
  idle_session_timeout: '500ms',
  transaction_timeout: '300ms',
  backslash_quote: 'off',
  quote_all_identifiers: 'on',
  array_nulls: 'off',
  xmloption: 'document',
  row_security: 'off',
};

const server = requiredAddress('POSTGRES_URL');
const admin = async (statements: string[]) => {
  for (const statement of statements) await query(server, statement);
};

/** Drops all databases with this prefix, including those that restores kept. */
async function dropDatabases(prefix: string): Promise<void> {
  const made = await query(server, 'select datname from pg_database where starts_with(datname, $1)', [prefix]);
  await admin(made.map(({ datname }) => `drop database "${datname}" with (force)`));
}

/** Tests the product on the PostgreSQL that `prepare` returns, which contains every store. */
function describeProduct(prepare: (prefix: string) => Promise<{ url: string; release: () => Promise<unknown> }>) {
  const prefix = `test_unusual_${randomBytes(4).toString('hex')}_`;
  let postgres: Awaited<ReturnType<typeof prepare>> | undefined;
  const { dataDir, platform } = useEmbedded(async () => {
    postgres = await prepare(prefix);
    return { ADMIN_PORT: String(await findFreePort()), POSTGRES_URL: postgres.url, DATABASE_PREFIX: prefix };
  });
  afterAll(async () => {
    await dropDatabases(prefix);
    await postgres?.release();
  });

  it('reports no problems', async () => {
    const { body } = await createRest(platform().url)('GET', '/operations/status');
    expect(body).toMatchObject({ message: 'All is well.' });
  });
  describeRestore(() => ({ urls: [platform().url], backupsDir: join(dataDir, 'backups') }), { isOfStores: true });
  return platform;
}

describe('with unusual settings of the role and the databases', () => {
  const running = describeProduct(async (prefix) => {
    const role = `${prefix}role`;
    const set = (of: string, settings: object) =>
      Object.entries(settings).map(
        ([name, value]) => `alter ${of} set ${name} to ${name === 'search_path' ? value : `'${value}'`}`,
      );
    await admin([
      `create role ${role} login createdb createrole password 'secret'`,
      ...set(`role ${role}`, ROLE_SETTINGS),
      ...INNER_SERVICES.flatMap((name) => [
        `create database ${prefix}${name} owner ${role} template template0`,
        ...set(`database ${prefix}${name}`, DATABASE_SETTINGS),
      ]),
    ]);
    const url = Object.assign(new URL(server), { username: role, password: 'secret' }).href;
    return { url, release: () => admin([`drop role ${role}`]) };
  });
  describeJourney(() => ({ urls: [running().url] }));
});

describe('behind PgBouncer in session mode', () => {
  describeProduct(() => startPgBouncer('session'));
});

describe('behind PgBouncer in transaction mode', () => {
  let pooler: Awaited<ReturnType<typeof startPgBouncer>>;
  beforeAll(async () => {
    pooler = await startPgBouncer('transaction');
  });
  afterAll(() => pooler.release());

  it('the start fails with the reason and the remedy', async () => {
    const env = { DATA_DIR: makeTempDir(), PORT: '0', ADMIN_PORT: '0', LOG_LEVEL: 'fatal', POSTGRES_URL: pooler.url };
    const start = startEmbedded({ env, progress: () => {} });
    await expect(start).rejects.toThrow(/is reached by a pooler that keeps no sessions.*pool_mode = session/);
  });

  it('backup, whose own store is reached directly, does not start either if an admin URL leads through PgBouncer', async () => {
    const { name, url: own } = await createTestDatabase('unusual_backup');
    const dataDir = makeTempDir();
    const pooled = Object.assign(new URL(pooler.url), { pathname: `/${name}` }).href;
    const env = { DATA_DIR: dataDir, POSTGRES_URL: own, TASKS_ADMIN_URL: own, AUTH_ADMIN_URL: pooled };
    const log = createLog({ service: 'backup', level: 'silent' });
    const refuse = () => Promise.reject(new Error('never called'));
    const owner = { importDatabase: refuse, compare: refuse, resume: refuse };
    const deps = { clock: systemClock, owners: { tasks: owner, auth: owner }, log };
    const backup = await createBackup(readBackupConfig(env), deps);
    atEnd(backup.stop);
    await expect(backup.start()).rejects.toThrow(/AUTH_ADMIN_URL.*is reached by a pooler that keeps no sessions/);
  });
});
