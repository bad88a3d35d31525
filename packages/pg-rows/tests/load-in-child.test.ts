import { connectClient, createTestDatabase, eventually, makeTempDir } from '@taskmesh/testing';
import { readdirSync, readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { runInChild } from '../src/child/index.ts';
import { LoadError, loadDumpInChild, type ChildLoadOptions } from '../src/index.ts';

const path = join(makeTempDir(), 'database.sql');
const database = await createTestDatabase('load');
const connection = { connectionString: database.url, application_name: 'load' };
const LOST = new Error('lost');

beforeEach(() => database.query('drop schema if exists loaded cascade; create schema loaded'));

async function load(sql: string, options: Partial<ChildLoadOptions> = {}) {
  await writeFile(path, sql);
  const signal = AbortSignal.timeout(20_000);
  return loadDumpInChild({ path, connection, schema: 'loaded', signal, lost: () => LOST, ...options });
}

/** Enough to load for a second, so that what a test does at the first progress happens during the load. */
const LONG_ROWS = 1_000_000;

/** Returns the id of the loading child process. */
function loadingProcess(): number {
  const children = readdirSync('/proc/self/task').flatMap((task) =>
    readFileSync(`/proc/self/task/${task}/children`, 'utf8').trim().split(' '),
  );
  const isLoading = (pid: string) => readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('load.process');
  return Number(children.find((pid) => pid !== '' && isLoading(pid)) ?? NaN);
}

describe('loading a dump in a separate process', () => {
  it('names the line that PostgreSQL refuses, but no values', async () => {
    const loading = load('create table t (a int);\ncopy t from stdin;\nsecret\n\\.\n');
    await expect(loading).rejects.toBeInstanceOf(LoadError);
    const message = 'Line 2: PostgreSQL refuses a value (22P02, table t, row 1, column a)';
    await expect(loading).rejects.toMatchObject({ message, cause: { code: '22P02' } });
  });

  it('is aborted even before its process has started, with the reason of the abort', async () => {
    const expired = load('create table t (a int);', { signal: AbortSignal.timeout(5) });
    await expect(expired).rejects.toMatchObject({ name: 'TimeoutError' });
    const reason = new Error('The time is up.');
    await expect(load('create table t (id int);', { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
  });

  it('is ended together with its session when it waits forever', async () => {
    const holder = await connectClient(database.url, 'begin; lock table pg_class in access exclusive mode');
    const loading = load('create table t (a int);', { signal: AbortSignal.timeout(1_500) });
    await expect(loading).rejects.toMatchObject({ name: 'TimeoutError' });
    await holder.end();
    const sessions = `select 1 from pg_stat_activity where application_name = 'load' and datname = current_database()`;
    await eventually(async () => expect(await database.query(sessions)).toEqual([]));
  });

  it('ignores signals to the process group, does not blame the dump when it is killed, and gets none of our settings', async () => {
    const rows = Array.from({ length: LONG_ROWS }, (_, index) => `${index}\tsome text of a row`);
    const dump = `create table long (id int, name text);\ncopy long from stdin;\n${rows.join('\n')}\n\\.\n`;
    let [environment, steps] = ['', 0];
    const loadAnd = (signals: NodeJS.Signals[]) => {
      const onProgress = () => {
        steps++;
        environment ||= readFileSync(`/proc/${loadingProcess()}/environ`, 'utf8');
        for (const signal of signals.splice(0)) process.kill(loadingProcess(), signal);
      };
      return load(dump, { signal: AbortSignal.timeout(60_000), onProgress });
    };
    await expect(loadAnd(['SIGKILL'])).rejects.toBe(LOST);
    expect(await loadAnd(['SIGTERM', 'SIGINT', 'SIGHUP'])).toMatchObject({ copiedRows: LONG_ROWS });
    expect(steps).toBeGreaterThan(4); // also within data
    const names = environment.split('\0').map((line) => line.split('=')[0]);
    expect(names).toContain('NODE_CHANNEL_FD');
    expect(names).not.toContain('PATH'); // nor does it get our own variables
  });
});

it.each([
  ['cannot be started', { flags: ['x'.repeat(2 ** 20)] }],
  ['fails', { path: '/nowhere/job.ts' }],
])('a job is not blamed when its process %s', async (_what, difference) => {
  const { signal } = new AbortController();
  const job = { path: '', input: {}, signal, errors: [], memoryError: () => new Error('too large'), ...difference };
  await expect(runInChild(job)).rejects.toThrow('The process could not be started, failed, or was killed.');
  await expect(runInChild({ ...job, lost: () => LOST })).rejects.toBe(LOST);
});
