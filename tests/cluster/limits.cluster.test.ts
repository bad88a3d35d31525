import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { closeSync, ftruncateSync, mkdtempSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { IMAGE } from './images.ts';
import { describeReal, installationForTests } from './installation.ts';
import { create, list, podsOf, runIn } from './kubectl.ts';
import { IDLE, pod } from './pods.ts';
import { READERS } from './readers.ts';
import { backupToken, CLIENT, PREFIX } from './release.ts';

const USERS = 200;
const SOCKETS = 10;
const MIB = 1024 * 1024;
const SERVICES = ['gateway', 'auth', 'tasks', 'backup'];

describeReal('within its memory limit (not on nodes that run nothing)', () => {
  const dir = mkdtempSync(join(tmpdir(), 'taskmesh-limits-'));
  const single = Object.fromEntries(SERVICES.map((name) => [name, { replicas: 1 }]));
  const many = { gateway: { settings: { REALTIME_MAX_SOCKETS_PER_IP: USERS * SOCKETS } } };
  const product = installationForTests(single, many);
  let token: string;

  beforeAll(async () => {
    const { namespace } = product();
    token = await backupToken(namespace);
    await create(pod({ name: 'readers', namespace, labels: CLIENT, image: IMAGE, command: IDLE }));
  }, 60_000);
  afterAll(() => rmSync(dir, { recursive: true }));
  afterEach(async () => {
    const path = '.metadata.name}={.status.containerStatuses[0].restartCount';
    expect((await list('pods', product().namespace, path)).filter((row) => !row.endsWith('=0'))).toEqual([]);
    const peaks = SERVICES.map(async (name) => [name, await peakOf(name)]);
    console.info(expect.getState().currentTestName, Object.fromEntries(await Promise.all(peaks)));
  });

  /** The most memory that a service's process ever had, in MiB. */
  const peakOf = async (component: string) => {
    const [name = ''] = await podsOf(product().namespace, component);
    const status = await runIn(product().namespace, name, "console.log(fs.readFileSync('/proc/1/status', 'utf8'))");
    return Math.round(Number(/VmHWM:\s+(\d+)/.exec(status)?.[1]) / 1024);
  };

  it(`a gateway feeds ${USERS * SOCKETS} readers`, async () => {
    const { namespace } = product();
    const answer = await runIn(namespace, 'readers', READERS, `${PREFIX}-gateway`, String(USERS), String(SOCKETS));
    expect(JSON.parse(answer)).toEqual({ told: USERS * SOCKETS });
  }, 900_000);

  /** Has backup prove an archive with this dump. */
  const prove = async (name: string, write: (dump: number) => void) => {
    const dump = join(dir, 'database.sql');
    const file = openSync(dump, 'w');
    write(file);
    closeSync(file);
    execFileSync('tar', ['-czf', join(dir, name), '-C', dir, 'database.sql']);
    const headers = { authorization: `Bearer ${token}` };
    const url = `${product().way.url}/api/backups/${name}`;
    expect((await fetch(url, { method: 'PUT', headers, body: readFileSync(join(dir, name)) })).status).toBe(201);
    const answer = await fetch(`${url}/verify`, { method: 'POST', headers });
    return { status: answer.status, text: await answer.text() };
  };
  const BEGIN = `create table public.tasks (
    id uuid primary key, user_id uuid not null, title varchar(255) not null, description text, completed boolean not null,
    due_date timestamptz, category text, priority text not null, created_at timestamptz not null, updated_at timestamptz not null);
copy public.tasks (id, user_id, title, description, completed, due_date, category, priority, created_at, updated_at) from stdin;
`;
  const row = (description: string) =>
    [randomUUID(), randomUUID(), 'title', description, 'f', '\\N', '\\N', 'high', '2026-01-01', '2026-01-01'].join(
      '\t',
    );

  it.each<{ what: string; status: number; write: (dump: number) => void }>([
    {
      what: '100 MiB of rows',
      status: 200,
      write(dump) {
        writeSync(dump, BEGIN);
        for (let count = 0; count < 50_000; count++) writeSync(dump, `${row('x'.repeat(2_000))}\n`);
        writeSync(dump, '\\.\n');
      },
    },
    {
      what: 'one line of 300 MiB',
      status: 409,
      write: (dump) => writeSync(dump, BEGIN) && writeSync(dump, 'x'.repeat(300 * MIB)),
    },
    { what: 'more than it may hold, small as it is', status: 409, write: (dump) => ftruncateSync(dump, 700 * MIB) },
  ])(
    'backup reads an archive to its end or refuses it: $what',
    async ({ what, status, write }) => {
      expect(await prove(`${what.replaceAll(/\W+/g, '-')}.tar.gz`, write)).toMatchObject({ status });
    },
    600_000,
  );
});
