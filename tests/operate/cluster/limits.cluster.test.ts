import { makeTempDir } from '@taskmesh/testing';
import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { closeSync, ftruncateSync, openSync, readFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { IMAGE } from './images.ts';
import { describeReal, installationForTests } from './installation.ts';
import { create, list, podsOf, runIn } from './kubectl.ts';
import { IDLE, pod } from './pods.ts';
import { READERS, REQUESTS } from './readers.ts';
import { backupToken, CLIENT, PREFIX } from './release.ts';

const USERS = 200;
const SOCKETS = 10;
const MIB = 1024 * 1024;
const SERVICES = ['gateway', 'auth', 'tasks', 'backup'];

/** A service process's peak memory, and the CPU time of the process and its former children. */
interface Figures {
  peakMib: number;
  cpuMs: number;
}

const FIGURES = `
  const read = (name) => fs.readFileSync('/proc/1/' + name, 'utf8');
  const peakMib = Math.round(Number(/VmHWM:\\s+(\\d+)/.exec(read('status'))[1]) / 1024);
  const ticks = read('stat').split(') ')[1].split(' ').slice(11, 15); // of 10 ms: user, system, and those of processes that ended
  console.log(JSON.stringify({ peakMib, cpuMs: 10 * ticks.reduce((sum, each) => sum + Number(each), 0) }));`;

describeReal('within its memory limit (not on nodes that run nothing)', () => {
  const dir = makeTempDir();
  const single = Object.fromEntries(SERVICES.map((name) => [name, { replicas: 1 }]));
  const many = { gateway: { settings: { REALTIME_MAX_SOCKETS_PER_IP: USERS * SOCKETS } } };
  const product = installationForTests(single, many);
  let token: string;

  beforeAll(async () => {
    const { namespace } = product();
    token = await backupToken(namespace);
    await create(pod({ name: 'readers', namespace, labels: CLIENT, image: IMAGE, command: IDLE }));
  }, 180_000);
  let begun: { atMs: number; figures: Figures[] };
  beforeEach(async () => {
    begun = { atMs: performance.now(), figures: await allFigures() };
  });
  afterEach(async () => {
    const path = '.metadata.name}={.status.containerStatuses[0].restartCount';
    expect((await list('pods', product().namespace, path)).filter((row) => !row.endsWith('=0'))).toEqual([]);
    const tookMs = performance.now() - begun.atMs;
    const rows = (await allFigures()).map(({ peakMib, cpuMs }, index) => {
      const millicores = Math.round(((cpuMs - (begun.figures[index]?.cpuMs ?? 0)) / tookMs) * 1_000);
      return [SERVICES[index], { peakMib, millicores }];
    });
    console.info(expect.getState().currentTestName, JSON.stringify(Object.fromEntries(rows)));
  });

  const allFigures = () =>
    Promise.all(
      SERVICES.map(async (component) => {
        const [name = ''] = await podsOf(product().namespace, component);
        return JSON.parse(await runIn(product().namespace, name, FIGURES)) as Figures;
      }),
    );

  it(`a gateway feeds ${USERS * SOCKETS} readers`, async () => {
    const { namespace } = product();
    const answer = await runIn(namespace, 'readers', READERS, `${PREFIX}-gateway`, String(USERS), String(SOCKETS));
    expect(JSON.parse(answer)).toEqual({ received: USERS * SOCKETS });
  }, 900_000);

  it('serves users who list, read, create and change tasks', async () => {
    const { namespace } = product();
    const answer = await runIn(namespace, 'readers', REQUESTS, `${PREFIX}-gateway`, '8', '30');
    console.info(answer.trim());
    expect(JSON.parse(answer)).toMatchObject({ failed: 0 });
  }, 300_000);

  /** Makes backup verify an archive with this dump. */
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
