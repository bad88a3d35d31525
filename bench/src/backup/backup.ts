import { databaseUrl, startPostgres, withPostgres, type PostgresServer } from '@taskmesh/local';
import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, statSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { Client } from 'undici';
import { stopPart } from '../machine/processes.ts';
import { send } from '../load/calls.ts';
import { watchMemory } from '../machine/cpu.ts';
import { startEmbedded, tasksDatabaseOn } from '../machine/targets.ts';
import type { Report, RunContext } from '../run/benchmark.ts';
import { median } from '../run/figures.ts';
import { count, defineOptions } from '../run/options.ts';
import { describeOrigin, table } from '../run/report.ts';

const ABOUT =
  'Measures backups and restores, compared with pg_dump | gzip and psql on the same data and server, in one run (about a minute).';
const options = defineOptions('backup', ABOUT, {
  rows: count('tasks in the database', [100_000, 10_000], { max: 10_000_000 }),
  rounds: count('number of rounds; the median counts; with 1, there is no warm-up', [3, 1]),
});
type Options = ReturnType<typeof options.read>;

const OURS = 'Taskmesh';
const WORK_KINDS = ['dump and compress', 'load a dump', 'whole restore'] as const;

/** One kind of work, with the seconds of each round. */
interface Timed {
  work: (typeof WORK_KINDS)[number];
  by: string;
  seconds: number[];
  /** Only for the product: how much its process grew, and the peak of its children together, in each round. */
  memory: { own: number; children: number }[];
}

/** Makes backups and restores them with the product and with PostgreSQL's own tools, taking turns. */
async function run(chosen: Options & RunContext) {
  const { dataDir, log, rows, rounds, signal } = chosen;
  await using closers = new AsyncDisposableStack();
  const tools = await findTools();
  const server = closers.adopt(await startServer(tools, dataDir), stopPart);
  const product = closers.adopt(await startProduct(chosen, server.url), stopPart);
  const tasksUrl = tasksDatabaseOn(server.url);
  const onServer = (statement: string) => withPostgres(server.url, (client) => client.query(statement));
  log(`Writing ${rows} tasks …`);
  await withPostgres(tasksUrl, (client) => client.query(insertTasks(rows)));

  const timed: Timed[] = WORK_KINDS.flatMap((work) =>
    [OURS, ...(tools && work !== 'whole restore' ? [work === 'load a dump' ? 'psql' : 'pg_dump \\| gzip'] : [])].map(
      (by): Timed => ({ work, by, seconds: [], memory: [] }),
    ),
  );
  let isWarmUp = rounds > 1;
  const add = (work: Timed['work'], by: string, seconds: number, memory: Timed['memory'] = []) => {
    const row = timed.find((each) => each.work === work && each.by === by);
    if (isWarmUp || !row) return;
    row.seconds.push(seconds);
    row.memory.push(...memory);
  };
  const time = async <Result>(work: Timed['work'], by: string, action: () => Promise<Result>): Promise<Result> => {
    await onServer('checkpoint'); // otherwise each would pay for the writes of the previous one
    const stop = watchMemory(product.pid);
    const begin = performance.now();
    const result = await action();
    const seconds = (performance.now() - begin) / 1_000;
    const memory = stop();
    add(work, by, seconds, by === OURS ? [memory] : []);
    return result;
  };
  const unpacked = join(dataDir, 'unpacked');
  const dump = join(unpacked, 'database.sql');
  mkdirSync(unpacked);
  for (let round = isWarmUp ? 0 : 1; round <= rounds; round++) {
    signal.throwIfAborted();
    isWarmUp = round === 0;
    log(isWarmUp ? 'Warming up …' : `Round ${round} of ${rounds} …`);
    const file = await time('dump and compress', OURS, product.create);
    if (tools) await time('dump and compress', 'pg_dump \\| gzip', () => dumpAndZip(tasksUrl, join(dataDir, 'gz')));
    await time('whole restore', OURS, () => product.restore(file));
    add('load a dump', OURS, product.lastLoadSeconds());
    // The same preparations as for the product's load: a checkpoint, an unpacked archive, a new database.
    await execute('tar', ['-xzf', join(product.backupsDir, file), '-C', unpacked]);
    if (tools) {
      await onServer('create database psql_load template template0');
      const url = databaseUrl(server.url, 'psql_load');
      const args = ['-X', '-q', '-1', '-v', 'ON_ERROR_STOP=1', '-o', '/dev/null', '-f', dump, url];
      await time('load a dump', 'psql', () => execute('psql', args));
      await onServer('drop database psql_load');
    }
    await product.remove(file);
  }
  const client = tools ? `client ${tools.version}` : 'no client';
  return { server: `PostgreSQL ${server.version} (${server.origin})`, client, dumpBytes: statSync(dump).size, timed };
}

const execute = promisify(execFile);

/** Finds PostgreSQL's own client tools on this machine; undefined if there are none. */
async function findTools() {
  try {
    const { stdout } = await execute('pg_dump', ['--version']);
    await execute('psql', ['--version']);
    const version = /(\d+)(\.\d+)?/.exec(stdout)?.[0] ?? '';
    const major = version.split('.')[0] ?? '';
    const candidates = [`/usr/lib/postgresql/${major}/bin`, `/usr/pgsql-${major}/bin`];
    return { version, major, serverBin: candidates.find((dir) => existsSync(join(dir, 'initdb'))) };
  } catch {
    return undefined;
  }
}

type Tools = Awaited<ReturnType<typeof findTools>>;

/** Starts the product's own PostgreSQL, or that of the client tools if they are older, because pg_dump refuses a newer server. */
async function startServer(tools: Tools, dataDir: string): Promise<PostgresServer & { origin: string }> {
  const log = () => undefined;
  const own = await startPostgres({ dataDir: join(dataDir, 'postgres'), log });
  if (!tools?.serverBin || Number(tools.major) >= Number.parseInt(own.version)) return { ...own, origin: 'from npm' };
  await own.stop();
  const { serverBin, major } = tools;
  const binaries = { initdb: join(serverBin, 'initdb'), postgres: join(serverBin, 'postgres'), major };
  const older = await startPostgres({ dataDir: join(dataDir, 'postgres-of-client'), log, binaries });
  return { ...older, origin: 'of the client tools' };
}

/** Runs `pg_dump | gzip > file` and syncs the file, as the product does. */
async function dumpAndZip(url: string, file: string): Promise<void> {
  const line = 'set -o pipefail; pg_dump --no-owner --no-privileges "$0" | gzip > "$1"';
  await execute('bash', ['-c', line, url, file]);
  const written = await open(file, 'r+');
  await written.sync().finally(() => written.close());
}

/** Starts the platform in one process. Its PATH has no client tools, because its own dumper is measured. */
async function startProduct({ dataDir, env }: RunContext, postgresUrl: string) {
  const productDir = join(dataDir, 'embedded', 'taskmesh');
  const limits = { BACKUP_MAX_ARCHIVE_MB: '8192', RESTORE_KEEP_OLD: '0' };
  const locations = { PATH: dirname(process.execPath), DATA_DIR: productDir, POSTGRES_URL: postgresUrl };
  const { url, pid, stop } = await startEmbedded({ ...env, ...limits, ...locations, LOG_LEVEL: 'info' });
  const client = new Client(url, { headersTimeout: 0 });
  const call = async (request: string, status = 200) =>
    JSON.parse(await send(client, { request, status, token: env.BACKUP_TOKEN ?? '' })) as {
      message: string;
      data: { file: string };
    };
  return {
    ...{ pid, stop, backupsDir: join(productDir, 'backups') },
    create: async () => (await call('POST /api/backups', 201)).data.file,
    async restore(file: string) {
      const { message } = await call(`POST /api/backup/restore?file=${file}`);
      if (message.includes('not restored')) throw new Error(message);
    },
    remove: (file: string) => call(`DELETE /api/backups/${file}`),
    /** Read from the product's log. */
    lastLoadSeconds(): number {
      const lines = readFileSync(join(productDir, 'logs', 'taskmesh.log'), 'utf8').split('\n');
      const line = lines.findLast((text) => text.includes('"dump loaded"') && text.includes('"store":"tasks"')) ?? '{}';
      return Number((JSON.parse(line) as { tookMs?: number }).tookMs) / 1_000;
    },
  };
}

/** Inserts tasks of a thousand owners. */
const insertTasks = (rows: number) => `
  insert into tasks (id, user_id, title, description, completed, due_date, category, priority, created_at, updated_at)
  select gen_random_uuid(), md5((i % 1000)::text)::uuid, 'task number ' || i, repeat('some words of a task ', i % 15),
    i % 2 = 0, case when i % 3 = 0 then now() end, (array['home', 'work', null])[1 + i % 3],
    (array['low', 'medium', 'high'])[1 + i % 3], now() - i * interval '1 second', now()
  from generate_series(1, ${rows}) i`;

function describe(report: Report<Options, Awaited<ReturnType<typeof run>>>): Record<string, string> {
  const { parameters, server, client, dumpBytes, timed } = report;
  const { rows, rounds } = parameters;
  const method = `${server}, ${client} · ${rows} tasks, a dump of ${(dumpBytes / 1e6).toFixed(1)} MB · median of ${rounds} rounds, taking turns`;
  const speedRatio = ({ work, by, seconds }: Timed) => {
    const other = timed.find((one) => one.work === work && one.by !== OURS);
    return by === OURS && other ? (median(other.seconds) / median(seconds)).toFixed(2) : '';
  };
  const peak = ({ memory }: Timed, which: 'own' | 'children') =>
    memory.length === 0 ? '' : Math.max(...memory.map((round) => round[which])).toFixed(0);
  const figures = table<Timed>(
    timed,
    { work: ({ work }) => work, by: ({ by }) => by },
    {
      s: ({ seconds }) => median(seconds).toFixed(2),
      'MB/s': ({ seconds }) => (dumpBytes / 1e6 / median(seconds)).toFixed(1),
      'rows/s': ({ seconds }) => Math.round(rows / median(seconds)).toString(),
      "× PostgreSQL's own": speedRatio,
      'MiB over idle': (row) => peak(row, 'own'),
      'children MiB': (row) => peak(row, 'children'),
    },
  );
  return { 'backup figures': `${describeOrigin(report, method)}\n\n${figures}` };
}

export const backup = { options, run, describe };
