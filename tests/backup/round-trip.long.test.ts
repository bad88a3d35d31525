import { startStack, type Stack } from '@taskmesh/local';
import { eventually, nodeEnvironment, requiredAddress } from '@taskmesh/testing';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { createGraphql, createRest } from '../support/http.ts';
import { subscribe } from '../support/subscriber.ts';
import { leftovers } from './leftovers.ts';

const TASKS = 100_000;
const OWNERS = 20;
const PASSWORD = 'correct horse battery staple';

describe('a backup of 100,000 tasks', () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'taskmesh-round-trip-'));
  let stack: Stack;

  beforeAll(async () => {
    const env = {
      ...nodeEnvironment(),
      RESTORE_KEEP_OLD: '0',
      LOG_LEVEL: 'info',
      REDIS_URL: requiredAddress('REDIS_URL'),
      KAFKA_BROKERS: requiredAddress('KAFKA_BROKERS'),
    };
    stack = await startStack({ dataDir, gateways: 2, env, log: () => {} });
  }, 120_000);
  afterAll(async () => {
    await stack.stop();
    rmSync(dataDir, { recursive: true });
  }, 180_000);

  const url = () => stack.urls[0] ?? '';
  const rest: ReturnType<typeof createRest> = (...args) => createRest(url())(...args);
  const inTasks = async <Row extends object>(query: string, values: unknown[] = []) => {
    const client = new Client({ connectionString: new URL('/taskmesh_tasks', stack.servers.postgres).href });
    await client.connect();
    try {
      return (await client.query<Row>(query, values)).rows;
    } finally {
      await client.end();
    }
  };
  /** Every row, in every column. */
  const rows = () =>
    inTasks<{ row: string }>('select tasks::text as row from tasks order by id').then((found) =>
      found.map(({ row }) => row),
    );
  const signUp = async () => {
    const account = { email: `${randomUUID()}@example.com`, password: PASSWORD };
    const { body } = await rest<{ access_token: string; user: { id: string } }>('POST', '/auth/signup', {
      body: { ...account, name: 'Ada' },
    });
    return { account, token: body.access_token, userId: body.user.id };
  };

  it('comes back row by row, while a writer and a subscriber go on', async () => {
    const owners = await Promise.all(Array.from({ length: OWNERS }, signUp));
    const [ada] = owners;
    if (!ada) throw new Error('no owner');
    await inTasks(
      `insert into tasks (id, user_id, title, description, completed, due_date, category, priority, created_at, updated_at)
       select gen_random_uuid(), ($1::uuid[])[1 + i % $2], 'task ' || i || E' \\\\ \\t ü 漢 🌱',
         case when i % 3 = 0 then null else repeat(E'tab\\tline\\nback\\\\slash ', i % 20) end, i % 2 = 0,
         case when i % 4 = 0 then now() + i * interval '1 minute' end, (array['home', '', null])[1 + i % 3],
         (array['low', 'medium', 'high'])[1 + i % 3], now() - i * interval '1 second', now()
       from generate_series(1, $3::int) i`,
      [owners.map(({ userId }) => userId), OWNERS, TASKS],
    );
    const before = await rows();
    const { status, body } = await rest<{ data: { file: string } }>('POST', '/backups');
    expect(status).toBe(201);

    await inTasks(`delete from tasks where id in (select id from tasks order by id limit ${TASKS / 10})`);
    await inTasks(`update tasks set title = 'changed', completed = not completed, version = version + 1`);
    const later = await signUp();
    await rest('POST', '/auth/logout', { token: owners.at(-1)?.token ?? '' });

    const cursor = await createGraphql(url())<{ tasks: { changesCursor: string } }>('{ tasks { changesCursor } }', ada);
    const subscriber = await subscribe(stack.urls, ada.token, { after: cursor.data.tasks.changesCursor });
    const writer = startWriter(stack.urls, ada.token);
    await eventually(() => expect(subscriber.changes.length).toBeGreaterThan(3));

    const restored = await rest<{ message: string }>(
      'POST',
      `/backup/restore?file=${body.data.file}&safetyBackup=false`,
    );
    expect([restored.status, restored.body.message]).toEqual([200, expect.stringContaining('Database restored')]);
    await writer.atLeast(20);
    const { statuses, created } = await writer.stop();
    console.info('writer:', JSON.stringify(statuses));
    expect(Object.keys(statuses).filter((code) => !['201', '503'].includes(code))).toEqual([]);
    expect(statuses['201']).toBeGreaterThan(20);
    await eventually(() => expect(JSON.stringify(subscriber.failures)).toContain('CURSOR_EXPIRED'));
    await subscriber.close();

    // What was written behind the swap is there, and nothing else besides the backup's rows.
    const after = await rows();
    const old = new Set(before);
    const isOurs = (row: string) => created.some((id) => row.includes(id));
    expect(after.filter((row) => !old.has(row) && !isOurs(row))).toEqual([]);
    expect(after.filter((row) => old.has(row)).length).toBe(before.length);
    expect(before.length).toBe(TASKS);

    // Accounts and tokens go on as rule and order have it.
    expect((await rest('GET', '/tasks/stats', { token: ada.token })).status).toBe(200);
    expect((await rest('POST', '/auth/login', { body: ada.account })).status).toBe(200);
    expect((await rest('GET', '/auth/me', { token: owners.at(-1)?.token ?? '' })).status).toBe(401);
    await eventually(async () => expect((await rest('GET', '/tasks', later)).status).toBe(401));
    expect(await leftovers({ postgresUrl: stack.servers.postgres, dataDir })).toEqual([]);
  }, 300_000);
});

/** Creates tasks without a pause, at the gateways in turn. */
function startWriter(urls: string[], token: string) {
  const statuses: Record<string, number> = {};
  const created: string[] = [];
  let isStopped = false;
  let count = 0;
  const running = (async () => {
    while (!isStopped) {
      const rest = createRest(urls[count % urls.length] ?? '');
      const answer = await rest<{ data?: { id: string } }>('POST', '/tasks', {
        token,
        body: { title: `written ${++count}` },
      });
      statuses[answer.status] = (statuses[answer.status] ?? 0) + 1;
      if (answer.body.data) created.push(answer.body.data.id);
    }
  })();
  return {
    async atLeast(more: number) {
      const goal = created.length + more;
      await eventually(() => created.length >= goal, { timeoutMs: 30_000 });
    },
    async stop() {
      isStopped = true;
      await running;
      return { statuses, created };
    },
  };
}
