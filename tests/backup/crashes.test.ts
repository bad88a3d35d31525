import { databaseUrl, startStack, type Stack } from '@taskmesh/local';
import { createRandom, eventually, makeTempDir, nodeEnvironment, ownInstallation, query } from '@taskmesh/testing';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createRest, makeBackup, register } from '../http.ts';

/** Describes everything missing or left over on the PostgreSQL server and in the folders of backup; empty if all is well. */
async function leftovers({ postgresUrl, dataDir }: { postgresUrl: string; dataDir: string }): Promise<string[]> {
  const names = async (text: string) =>
    (await query<{ name: string }>(postgresUrl, `${text} like 'taskmesh%'`)).map(({ name }) => name);
  const databases = await names('select datname as name from pg_database where datname');
  const roles = await names('select rolname as name from pg_roles where rolname');
  const missing = STORES.filter((name) => !databases.includes(name));
  return [
    ...missing.map((name) => `the database ${name} is missing`),
    ...databases.filter((name) => !STORES.includes(name)).map((name) => `the database ${name} is left`),
    ...roles.map((name) => `the role ${name} is left`),
    ...filesIn(join(dataDir, 'backup-scratch')).map((name) => `the temporary directory ${name} is left`),
    ...filesIn(join(dataDir, 'backups'))
      .filter((name) => !/^[^.].*\.tar\.gz$/.test(name))
      .map((name) => `the unfinished archive ${name} is left`),
  ];
}

const STORES = ['taskmesh_auth', 'taskmesh_backup', 'taskmesh_tasks'];

const filesIn = (dir: string) => (existsSync(dir) ? readdirSync(dir) : []);

const isLong = process.env.TASKMESH_LONG !== undefined;
const seed = Number(process.env.TASKMESH_SEED ?? 20_261_121);
const tasks = isLong ? 30_000 : 5_000;
/**
 * The process to kill and the work to interrupt. A short run does the first, because tests/restore-crash.test.ts of backup kills it
 * at any statement; a long run does all, five times.
 */
const ONCE = [
  { victim: 'postgres', during: 'restore' },
  { victim: 'backup', during: 'restore' },
  { victim: 'backup', during: 'create' },
  { victim: 'tasks', during: 'restore' },
] as const;
const rounds = isLong ? Array.from({ length: 5 }, () => ONCE).flat() : ONCE.slice(0, 1);

/** The steps that the work reports. */
const STEPS = {
  restore: ['extract', 'load tasks', 'check tasks', 'load auth', 'check auth', 'swap'],
  create: ['dump tasks', 'dump auth', 'compress'],
};
const MAX_DELAY_MS = { restore: 60, create: 15 };

const dataDir = makeTempDir();
const random = createRandom(seed);
let stack: Stack;
let token = '';
let archive = '';

const url = () => stack.urls[0] ?? '';
const rest = createRest(url);
const inTasks = <Row>(text: string, values: unknown[] = []) =>
  query<Row>(databaseUrl(stack.servers.postgres, 'taskmesh_tasks'), text, values);
const markAll = (mark: string) => inTasks('update tasks set category = $1', [mark]);
const marks = () =>
  inTasks<{ mark: string; count: number }>('select category as mark, count(*)::int as count from tasks group by 1');

/** Starts the work, and kills a process shortly after a seeded step. Returns the last line of the response. */
const killDuring = async (during: 'restore' | 'create', kill: () => void) => {
  const step = STEPS[during][Math.floor(random() * STEPS[during].length)] ?? '';
  const delayMs = random() * MAX_DELAY_MS[during];
  const path = during === 'create' ? '/api/backups' : `/api/backup/restore?file=${archive}&safetyBackup=false`;
  let killing: Promise<void> | undefined;
  let last: { status?: number; message?: string } = {};
  try {
    const headers = { accept: 'application/x-ndjson' };
    for await (const line of linesOf(await fetch(`${url()}${path}`, { method: 'POST', headers }))) {
      last = line;
      const { phase, store } = line.progress ?? {};
      if (`${phase} ${store ?? ''}`.trim() === step) killing ??= sleep(delayMs).then(kill);
    }
  } catch {
    last = { message: 'the connection broke' };
  }
  await killing;
  console.info(`seed ${seed}: killed ${Math.round(delayMs)} ms into "${step}" of ${during}:`, last);
  return { wasKilled: killing !== undefined, last };
};

beforeAll(async () => {
  const { REDIS_URL, KAFKA_BROKERS } = ownInstallation();
  const env = { ...nodeEnvironment(), RESTORE_KEEP_OLD: '0', LOG_LEVEL: 'info', REDIS_URL, KAFKA_BROKERS };
  stack = await startStack({ dataDir, env, log: () => {} });
  const owner = await register(url());
  token = owner.token;
  await inTasks(
    `insert into tasks (id, user_id, title, description, completed, priority, category, created_at, updated_at)
     select gen_random_uuid(), $1, 'task ' || i, repeat('words ', 20), false, 'low', 'backed up', now(), now()
     from generate_series(1, $2::int) i`,
    [owner.id, tasks],
  );
  archive = await makeBackup(url());
}, 120_000);
afterAll(() => stack.stop(), 180_000);

it.each(rounds.map((round, index) => ({ ...round, index })))(
  '$index: kill -9 of $victim at a seeded moment of $during leaves one whole store and nothing else',
  async ({ victim, during, index }) => {
    const mark = `round ${index}`;
    await markAll(mark);
    const process = stack.processes.get(victim);
    if (!process) throw new Error(`There is no ${victim}.`);
    const { pid } = process;
    const { wasKilled, last } = await killDuring(during, () => process.kill('SIGKILL'));
    expect(wasKilled).toBe(true);
    expect([200, 201, 500, 503, undefined]).toContain(last.status);
    await eventually(() => process.isUp && process.pid !== pid, { timeoutMs: 60_000 });

    const where = { postgresUrl: stack.servers.postgres, dataDir };
    await eventually(async () => expect(await leftovers(where)).toEqual([]), { timeoutMs: 45_000, everyMs: 200 });
    const whole = during === 'restore' ? `backed up|${mark}` : mark;
    expect(await marks()).toEqual([{ mark: expect.stringMatching(`^(${whole})$`), count: tasks }]);

    // The platform still works: old tokens, writes, and complete archives.
    const isBack = async () => (await rest('GET', '/tasks/stats', { token })).status === 200;
    await eventually(isBack, { timeoutMs: 20_000 });
    const made = await rest<{ data: { id: string } }>('POST', '/tasks', { token, body: { title: 'works' } });
    expect((await rest('DELETE', `/tasks/${made.body.data.id}`, { token })).status).toBe(200);
    const listed = (await rest<{ data: { file: string }[] }>('GET', '/backups')).body.data.map(({ file }) => file);
    expect(listed.toSorted()).toEqual(readdirSync(join(dataDir, 'backups')).toSorted());
    for (const file of listed.filter((name) => name !== archive)) {
      const verified = await fetch(`${url()}/api/backups/${file}/verify`, { method: 'POST' });
      expect([file, verified.status]).toEqual([file, 200]);
      await rest('DELETE', `/backups/${file}`);
    }
  },
  180_000,
);

type Line = { progress?: { phase: string; store?: string }; status?: number; message?: string };

async function* linesOf({ body }: Response): AsyncGenerator<Line> {
  let rest = '';
  for await (const part of (body ?? new ReadableStream()).pipeThrough(new TextDecoderStream())) {
    const lines = `${rest}${part}`.split('\n');
    rest = lines.pop() ?? '';
    yield* lines.filter(Boolean).map((line) => JSON.parse(line) as Line);
  }
  if (rest !== '') yield JSON.parse(rest) as Line; // refused before any progress
}
