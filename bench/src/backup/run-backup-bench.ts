import { databaseUrl, withPostgres } from '@taskmesh/local';
import { Closers } from '@taskmesh/service';
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Surroundings } from '../benchmark.ts';
import { watchTreeMemory } from '../cpu/tree-memory.ts';
import { describeMachine } from '../report/machine.ts';
import { startPlatform } from '../targets/embedded.ts';
import { tasksDatabaseOn } from '../targets/tasks-database.ts';
import { dumpAndZip, findClientTools, loadWithPsql, type ClientTools } from './client-tools.ts';
import type { BackupBenchOptions } from './options.ts';
import { OURS, type Timed } from './report.ts';
import { startServerFor } from './start-server.ts';

/** Makes backups and restores them by the product, and does the same by PostgreSQL's own tools, in turns. */
export async function runBackupBench(options: BackupBenchOptions & Surroundings) {
  const { dataDir, log, rows, rounds, signal } = options;
  await using closers = new Closers();
  const tools = await findClientTools();
  const server = closers.use(await startServerFor(tools, { dataDir, log }));
  const product = closers.use(await startProduct(options, server.url));
  const tasksUrl = tasksDatabaseOn(server.url);
  log(`Writing ${rows} tasks …`);
  await onServer(tasksUrl, fill(rows));

  const compared = tools && Number(tools.major) >= Number.parseInt(server.version) ? tools : undefined;
  const timed: Timed[] = [];
  let dumpBytes = 0;
  for (let round = rounds > 1 ? 0 : 1; round <= rounds; round++) {
    signal.throwIfAborted();
    log(round === 0 ? 'Warming up …' : `Round ${round} of ${rounds} …`);
    const found = await oneRound({ product, tools: compared, psql: tools, tasksUrl, serverUrl: server.url, dataDir });
    dumpBytes = found.dumpBytes;
    if (round > 0) found.timed.forEach((one) => addTo(timed, one));
  }
  return {
    machine: describeMachine(server.version),
    server: `PostgreSQL ${server.version} (${server.origin})`,
    ...{ client: tools && `client ${tools.version}`, rows, dumpBytes },
    timed: ORDER.flatMap((work) => timed.filter((one) => one.work === work)),
  };
}

const ORDER: Timed['work'][] = ['make', 'load', 'restore'];

function addTo(timed: Timed[], { work, by, seconds, memory }: Timed): void {
  const known = timed.find((one) => one.work === work && one.by === by);
  if (!known) return void timed.push({ work, by, seconds, ...(memory && { memory }) });
  known.seconds.push(...seconds);
  known.memory?.push(...(memory ?? []));
}

async function oneRound(options: {
  product: Awaited<ReturnType<typeof startProduct>>;
  tools: ClientTools | undefined;
  psql: ClientTools | undefined;
  tasksUrl: string;
  serverUrl: string;
  dataDir: string;
}) {
  const { product, tools, psql, tasksUrl, serverUrl, dataDir } = options;
  const timed: Timed[] = [];
  const time = async <Result>(work: Timed['work'], by: string, action: () => Promise<Result>): Promise<Result> => {
    await onServer(serverUrl, 'checkpoint'); // one pays for what another one wrote otherwise
    const stop = watchTreeMemory(product.pid);
    const begin = performance.now();
    const result = await action();
    const seconds = [(performance.now() - begin) / 1_000];
    const worst = stop();
    timed.push({ work, by, seconds, ...(by === OURS && { memory: [worst] }) });
    return result;
  };
  const file = await time('make', OURS, () => product.create());
  if (tools) await time('make', 'pg_dump \\| gzip', () => dumpAndZip(tasksUrl, join(dataDir, 'pg_dump.sql.gz')));

  await time('restore', OURS, () => product.restore(file));
  timed.push({ work: 'load', by: OURS, seconds: [product.lastLoadSeconds()] });
  // The product's load has the same behind it: a checkpoint, an archive unpacked, a database made.
  const unpacked = join(dataDir, 'unpacked');
  mkdirSync(unpacked, { recursive: true });
  execFileSync('tar', ['-xzf', join(product.backupsDir, file), '-C', unpacked]);
  const dump = join(unpacked, 'database.sql');
  if (psql) {
    await onServer(serverUrl, 'create database psql_load template template0');
    await time('load', 'psql', () => loadWithPsql(databaseUrl(serverUrl, 'psql_load'), dump));
    await onServer(serverUrl, 'drop database psql_load');
  }
  await product.remove(file);
  return { timed, dumpBytes: statSync(dump).size };
}

/** The platform in one process. Its PATH has no client tools: its own dumper is what is measured. */
async function startProduct({ dataDir, env }: Surroundings, postgresUrl: string) {
  const productDir = join(dataDir, 'embedded', 'taskmesh');
  const { url, pid, stop } = await startPlatform({
    ...env,
    PATH: dirname(process.execPath),
    DATA_DIR: productDir,
    POSTGRES_URL: postgresUrl,
    LOG_LEVEL: 'info',
    BACKUP_MAX_ARCHIVE_MB: '8192',
    RESTORE_KEEP_OLD: '0',
  });
  const call = async <Body>(method: string, path: string): Promise<Body> => {
    const response = await fetch(`${url}/api${path}`, { method });
    const body = (await response.json()) as Body & { message: string };
    if (!response.ok || /not restored/.test(body.message)) throw new Error(`${method} ${path}: ${body.message}`);
    return body;
  };
  return {
    ...{ pid, stop, backupsDir: join(productDir, 'backups') },
    create: async () => (await call<{ data: { file: string } }>('POST', '/backups')).data.file,
    restore: (file: string) => call('POST', `/backup/restore?file=${file}`),
    remove: (file: string) => call('DELETE', `/backups/${file}`),
    /** As the product's log tells it. */
    lastLoadSeconds(): number {
      const lines = readFileSync(join(productDir, 'logs', 'taskmesh.log'), 'utf8').split('\n');
      const line = lines.findLast((text) => text.includes('"dump loaded"') && text.includes('"store":"tasks"')) ?? '{}';
      return Number((JSON.parse(line) as { tookMs?: number }).tookMs) / 1_000;
    },
  };
}

/** Of a thousand owners. */
const fill = (rows: number) => `
  insert into tasks (id, user_id, title, description, completed, due_date, category, priority, created_at, updated_at)
  select gen_random_uuid(), md5((i % 1000)::text)::uuid, 'task number ' || i, repeat('some words of a task ', i % 15),
    i % 2 = 0, case when i % 3 = 0 then now() end, (array['home', 'work', null])[1 + i % 3],
    (array['low', 'medium', 'high'])[1 + i % 3], now() - i * interval '1 second', now()
  from generate_series(1, ${rows}) i`;

const onServer = (url: string, statement: string) => withPostgres(url, (client) => client.query(statement));
