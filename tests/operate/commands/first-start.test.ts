import { startEmbedded, type Embedded } from '@taskmesh/all-in-one';
import { databaseUrl, findFreePort, INNER_SERVICES } from '@taskmesh/local';
import { createLog, settlesWithin } from '@taskmesh/service';
import { connectClient, eventually, makeTempDir, ownInstallation, query } from '@taskmesh/testing';
import { readFileSync } from 'node:fs';

const { POSTGRES_URL, DATABASE_PREFIX } = ownInstallation();
const log = createLog({ service: 'first-start', level: 'silent' });
const urlOf = (service: string) => databaseUrl(POSTGRES_URL, `${DATABASE_PREFIX}${service}`);

const ENV = { DATA_DIR: makeTempDir(), PORT: '0', LOG_LEVEL: 'warn', POSTGRES_URL, DATABASE_PREFIX };
/** Without this lock, no migration begins. */
const LOCK = `select pg_advisory_lock(hashtext('taskmesh-migrations'))`;
const UNLOCK = LOCK.replace('lock(', 'unlock(');
let platform: Embedded | undefined;
afterAll(async () => {
  await platform?.stop();
  for (const service of INNER_SERVICES)
    await query(POSTGRES_URL, `drop database if exists ${DATABASE_PREFIX}${service} with (force)`);
}, 60_000);

it('a first start logs no warnings, even if auth takes much longer than tasks to create its tables', async () => {
  for (const service of ['auth', 'tasks']) await query(POSTGRES_URL, `create database ${DATABASE_PREFIX}${service}`);
  const database = new URL('../../../services/tasks/src/database.ts', import.meta.url);
  const { createTasksDatabase } = await import(database.href);
  const tasks = await createTasksDatabase({ url: urlOf('tasks'), poolSize: 1, log });
  await tasks.migrate();
  await tasks.close();

  const auth = await connectClient(urlOf('auth'), LOCK);
  const starting = startEmbedded({ env: ENV, progress: () => {} });
  const waiting = `select 1 from pg_stat_activity where datname = current_database() and wait_event = 'advisory'`;
  await eventually(async () => (await auth.query(waiting)).rowCount === 1);
  await auth.query(UNLOCK);
  platform = await starting;
  expect(readFileSync(platform.logFile, 'utf8')).toBe('');
});

it('a start completes only when clients can connect', async () => {
  await platform?.stop();
  platform = undefined;
  // Without this list, no token is accepted.
  const auth = await connectClient(urlOf('auth'), 'begin', 'lock table ended_sessions in access exclusive mode');
  const adminPort = await findFreePort();
  const env = { ...ENV, ADMIN_PORT: String(adminPort), LOG_LEVEL: 'fatal' };
  const events: string[] = [];
  const starting = startEmbedded({ env, progress: () => {} }).finally(() => events.push('started'));
  const readyz = async () => (await fetch(`http://127.0.0.1:${adminPort}/readyz`)).status;
  await eventually(async () => expect(await readyz()).toBe(503));
  events.push('may become ready');
  await auth.query('rollback');
  platform = await starting;
  expect(events).toEqual(['may become ready', 'started']);
  expect(await readyz()).toBe(200);
});

it('a start can be aborted, is live in the meantime, and reports what it waits for', async () => {
  await platform?.stop();
  platform = undefined;
  const auth = await connectClient(urlOf('auth'), LOCK);
  const adminPort = await findFreePort();
  const env = { ...ENV, ADMIN_PORT: String(adminPort), LOG_LEVEL: 'fatal' };
  const giveUp = new AbortController();
  const lines: string[] = [];
  const options = { env, progress: (line: string) => lines.push(line), signal: giveUp.signal, reportAfterMs: 0 };
  const starting = startEmbedded(options)
    .then((started) => (platform = started))
    .catch(() => 'given up');
  const isAlive = async () => (await fetch(`http://127.0.0.1:${adminPort}/livez`)).ok;
  try {
    await eventually(isAlive);
    await eventually(() => expect(lines.at(-1)).toMatch(/^Not ready yet: .*\bauth\b/));
    giveUp.abort();
    expect(await settlesWithin(starting, 15_000)).toBe(true);
    expect(await starting).toBe('given up');
    await expect(isAlive()).rejects.toThrow();
  } finally {
    await auth.query(UNLOCK);
    await starting;
  }
}, 90_000);
