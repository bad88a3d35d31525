import { startEmbedded, type Embedded } from '@taskmesh/all-in-one';
import { findFreePorts, INNER_SERVICES } from '@taskmesh/local';
import { createLog, settlesWithin } from '@taskmesh/service';
import { eventually, makeTempDir, ownInstallation } from '@taskmesh/testing';
import { readFileSync } from 'node:fs';
import { Client } from 'pg';

const { POSTGRES_URL, DATABASE_PREFIX } = ownInstallation();
const log = createLog({ service: 'first-start', level: 'silent' });
const urlOf = (service: string) => {
  const url = new URL(POSTGRES_URL);
  url.pathname = `/${DATABASE_PREFIX}${service}`;
  return url.href;
};

const clients: Client[] = [];
async function connected(url: string): Promise<Client> {
  const client = new Client({ connectionString: url });
  clients.push(client);
  await client.connect();
  return client;
}

const dataDir = makeTempDir();
let platform: Embedded | undefined;
afterAll(async () => {
  await platform?.stop();
  for (const client of clients.toReversed()) await client.end();
  const admin = new Client({ connectionString: POSTGRES_URL });
  await admin.connect();
  for (const service of INNER_SERVICES)
    await admin.query(`drop database if exists ${DATABASE_PREFIX}${service} with (force)`);
  await admin.end();
}, 60_000);

it('a first start logs no warnings, even if auth takes much longer than tasks to create its tables', async () => {
  const admin = await connected(POSTGRES_URL);
  for (const service of ['auth', 'tasks']) await admin.query(`create database ${DATABASE_PREFIX}${service}`);
  const { createTasksDatabase } = await import(
    new URL('../../../services/tasks/src/database.ts', import.meta.url).href
  );
  const tasks = await createTasksDatabase({ url: urlOf('tasks'), poolSize: 1, log });
  await tasks.migrate();
  await tasks.close();

  const auth = await connected(urlOf('auth'));
  await auth.query(`select pg_advisory_lock(hashtext('taskmesh-migrations'))`);
  const env = { DATA_DIR: dataDir, PORT: '0', LOG_LEVEL: 'warn', POSTGRES_URL, DATABASE_PREFIX };
  const starting = startEmbedded({ env, progress: () => {} });
  const waiting = `select 1 from pg_stat_activity where datname = current_database() and wait_event = 'advisory'`;
  await eventually(async () => expect((await auth.query(waiting)).rowCount).toBe(1), { timeoutMs: 30_000 });
  await auth.query(`select pg_advisory_unlock(hashtext('taskmesh-migrations'))`);
  platform = await starting;
  expect(readFileSync(platform.logFile, 'utf8')).toBe('');
});

it('a start completes only when clients can connect', async () => {
  await platform?.stop();
  platform = undefined;
  const auth = await connected(urlOf('auth'));
  await auth.query('begin');
  await auth.query('lock table ended_sessions in access exclusive mode'); // without this list, no token is accepted
  const [adminPort = 0] = await findFreePorts(1);
  const ports = { PORT: '0', ADMIN_PORT: String(adminPort) };
  const env = { DATA_DIR: dataDir, ...ports, LOG_LEVEL: 'fatal', POSTGRES_URL, DATABASE_PREFIX };
  const events: string[] = [];
  const starting = startEmbedded({ env, progress: () => {} }).then((started) => {
    events.push('started');
    return started;
  });
  const readyz = async () => (await fetch(`http://127.0.0.1:${adminPort}/readyz`)).status;
  await eventually(async () => expect(await readyz()).toBe(503), { timeoutMs: 30_000 });
  events.push('may become ready');
  await auth.query('rollback');
  platform = await starting;
  expect(events).toEqual(['may become ready', 'started']);
  expect(await readyz()).toBe(200);
});

it('a start can be aborted, is live in the meantime, and reports what it waits for', async () => {
  await platform?.stop();
  platform = undefined;
  const auth = await connected(urlOf('auth'));
  const [adminPort = 0] = await findFreePorts(1);
  const ports = { PORT: '0', ADMIN_PORT: String(adminPort) };
  const env = { DATA_DIR: dataDir, ...ports, LOG_LEVEL: 'fatal', POSTGRES_URL, DATABASE_PREFIX };
  await auth.query(`select pg_advisory_lock(hashtext('taskmesh-migrations'))`);
  const giveUp = new AbortController();
  const lines: string[] = [];
  const options = { env, progress: (line: string) => lines.push(line), signal: giveUp.signal };
  const starting = startEmbedded(options).then(
    (started) => (platform = started),
    () => 'given up',
  );
  const isAlive = async () => (await fetch(`http://127.0.0.1:${adminPort}/livez`)).ok;
  try {
    await eventually(async () => expect(await isAlive()).toBe(true), { timeoutMs: 15_000 });
    await eventually(() => expect(lines.at(-1)).toMatch(/^Not ready yet: .*\bauth\b/), { timeoutMs: 15_000 });
    giveUp.abort();
    expect(await settlesWithin(starting, 15_000)).toBe(true);
    expect(await starting).toBe('given up');
    await expect(isAlive()).rejects.toThrow();
  } finally {
    await auth.query(`select pg_advisory_unlock(hashtext('taskmesh-migrations'))`);
    await starting;
  }
}, 90_000);
