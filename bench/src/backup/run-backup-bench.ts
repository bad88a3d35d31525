import { databaseUrl, findFreePorts, serviceDatabase } from '@taskmesh/local';
import { Closers } from '@taskmesh/service';
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { watchTreeMemory } from '../cpu/tree-memory.ts';
import { describeMachine } from '../report/machine.ts';
import { startNode } from '../targets/node-process.ts';
import type { TargetOptions } from '../targets/target.ts';
import { dumpAndZip, findClientTools, loadWithPsql, type ClientTools } from './client-tools.ts';
import type { BackupBenchOptions } from './options.ts';
import { OURS, type BackupReport, type Timed } from './report.ts';
import { startServerFor } from './start-server.ts';

const MAIN = new URL('../../../deploy/all-in-one/src/main.ts', import.meta.url);
const START_MS = 60_000;

type Options = BackupBenchOptions & TargetOptions & { signal: AbortSignal };

/** Makes backups and restores them by the product, and does the same by PostgreSQL's own tools, in turns. */
export async function runBackupBench(options: Options): Promise<BackupReport> {
  const { dataDir, log, rows, rounds, signal } = options;
  const startedAt = new Date().toISOString();
  const closers = new Closers();
  try {
    const tools = await findClientTools();
    const server = await startServerFor(tools, { dataDir, log });
    closers.add(() => server.stop());
    const product = await startProduct(options, server.url);
    closers.add(() => product.stop());
    const tasksUrl = databaseUrl(server.url, serviceDatabase('tasks'));
    log(`Writing ${rows} tasks …`);
    await fill(tasksUrl, rows);

    const compared = tools && Number(tools.major) >= Number(server.version.split('.')[0]) ? tools : undefined;
    const rounded: Record<string, number[]> = {};
    const memory: Record<string, NonNullable<Timed['memory']>> = {};
    let dumpBytes = 0;
    for (let round = rounds > 1 ? 0 : 1; round <= rounds; round++) {
      signal.throwIfAborted();
      log(round === 0 ? 'Warming up …' : `Round ${round} of ${rounds} …`);
      const times = await oneRound({ product, tools: compared, psql: tools, tasksUrl, serverUrl: server.url, dataDir });
      dumpBytes = times.dumpBytes;
      if (round === 0) continue;
      for (const [name, seconds] of Object.entries(times.seconds)) (rounded[name] ??= []).push(seconds);
      for (const [name, worst] of Object.entries(times.memory)) (memory[name] ??= []).push(worst);
    }
    const timed = ORDER.flatMap(([name, work, by]): Timed[] => {
      const seconds = rounded[name];
      return seconds ? [{ work, by, seconds, ...(memory[name] && { memory: memory[name] }) }] : [];
    });
    return {
      startedAt,
      machine: describeMachine(server.version),
      server: `PostgreSQL ${server.version} (${server.origin})`,
      client: tools && `client ${tools.version}`,
      rows,
      dumpBytes,
      timed,
    };
  } finally {
    await closers.closeAll();
  }
}

const ORDER: [string, Timed['work'], string][] = [
  ['create', 'make', OURS],
  ['pg_dump', 'make', 'pg_dump \\| gzip'],
  ['load', 'load', OURS],
  ['psql', 'load', 'psql'],
  ['restore', 'restore', OURS],
];

/** What the product does in a process of its own. */
const OF_PRODUCT = { create: true, restore: true };

interface Round {
  product: Product;
  tools: ClientTools | undefined;
  psql: ClientTools | undefined;
  tasksUrl: string;
  serverUrl: string;
  dataDir: string;
}

async function oneRound({ product, tools, psql, tasksUrl, serverUrl, dataDir }: Round) {
  const seconds: Record<string, number> = {};
  const memory: Record<string, { own: number; children: number }> = {};
  const time = async <Result>(name: string, work: () => Promise<Result>): Promise<Result> => {
    await onServer(serverUrl, 'checkpoint'); // one pays for what another one wrote otherwise
    const stop = watchTreeMemory(product.pid);
    const begin = performance.now();
    const result = await work();
    seconds[name] = (performance.now() - begin) / 1_000;
    const worst = stop();
    if (name in OF_PRODUCT) memory[name] = worst;
    return result;
  };
  const file = await time('create', () => product.create());
  if (tools) await time('pg_dump', () => dumpAndZip(tools, tasksUrl, join(dataDir, 'pg_dump.sql.gz')));

  await time('restore', () => product.restore(file));
  seconds['load'] = product.lastLoadSeconds();
  // The product's load has the same behind it: a checkpoint, an archive unpacked, a database made.
  await onServer(serverUrl, 'checkpoint');
  const unpacked = join(dataDir, 'unpacked');
  mkdirSync(unpacked, { recursive: true });
  execFileSync('tar', ['-xzf', join(product.backupsDir, file), '-C', unpacked]);
  const dump = join(unpacked, 'database.sql');
  if (psql) {
    await onServer(serverUrl, 'create database psql_load template template0');
    const begin = performance.now();
    await loadWithPsql(psql, databaseUrl(serverUrl, 'psql_load'), dump);
    seconds['psql'] = (performance.now() - begin) / 1_000;
    await onServer(serverUrl, 'drop database psql_load');
  }
  await product.remove(file);
  return { seconds, memory, dumpBytes: statSync(dump).size };
}

type Product = Awaited<ReturnType<typeof startProduct>>;

/** The platform in one process. Its PATH has no client tools: its own dumper is what is measured. */
async function startProduct({ dataDir, env }: Options, postgresUrl: string) {
  const [port = 0, adminPort = 0] = await findFreePorts(2);
  const productDir = join(dataDir, 'embedded', 'taskmesh');
  const url = `http://127.0.0.1:${port}`;
  const server = await startNode({
    name: 'embedded',
    file: MAIN,
    env: {
      ...env,
      PATH: dirname(process.execPath),
      DATA_DIR: productDir,
      POSTGRES_URL: postgresUrl,
      PORT: String(port),
      ADMIN_PORT: String(adminPort),
      LOG_LEVEL: 'info',
      BACKUP_MAX_ARCHIVE_MB: '4096',
      RESTORE_KEEP_OLD: '0',
      BACKUP_MAX_EXPANDED_MB: '16384',
    },
    logFile: join(dataDir, 'embedded.log'),
  });
  const call = async <Body>(method: string, path: string): Promise<Body> => {
    const response = await fetch(`${url}/api${path}`, { method });
    const body = (await response.json()) as Body & { message: string };
    if (!response.ok || /not restored/.test(body.message)) throw new Error(`${method} ${path}: ${body.message}`);
    return body;
  };
  for (const deadline = Date.now() + START_MS; ; await sleep(50)) {
    const isReady = await fetch(`http://127.0.0.1:${adminPort}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    );
    if (isReady) break;
    if (Date.now() > deadline) throw new Error('The platform did not become ready.');
  }
  return {
    pid: server.pid,
    backupsDir: join(productDir, 'backups'),
    create: async () => (await call<{ data: { file: string } }>('POST', '/backups')).data.file,
    restore: (file: string) => call('POST', `/backup/restore?file=${file}`),
    remove: (file: string) => call('DELETE', `/backups/${file}`),
    /** As the product's log tells it. */
    lastLoadSeconds(): number {
      const lines = readFileSync(join(productDir, 'logs', 'taskmesh.log'), 'utf8').split('\n');
      const line = lines.findLast((text) => text.includes('"dump loaded"') && text.includes('"store":"tasks"')) ?? '{}';
      return Number((JSON.parse(line) as { tookMs?: number }).tookMs) / 1_000;
    },
    stop: () => server.stop(),
  };
}

async function fill(url: string, rows: number): Promise<void> {
  await onServer(
    url,
    `insert into tasks (id, user_id, title, description, completed, due_date, category, priority, created_at, updated_at)
     select gen_random_uuid(), md5((i % 1000)::text)::uuid, 'task number ' || i, repeat('some words of a task ', i % 15),
       i % 2 = 0, case when i % 3 = 0 then now() end, (array['home', 'work', null])[1 + i % 3],
       (array['low', 'medium', 'high'])[1 + i % 3], now() - i * interval '1 second', now()
     from generate_series(1, ${rows}) i`,
  );
}

async function onServer(url: string, statement: string): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}
