import { makeTempDir } from '@taskmesh/testing';
import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { closeSync, ftruncateSync, openSync, readFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { describeReal, installationForTests } from './installation.ts';
import { create, list, podsOf, runIn } from './kubectl.ts';
import { pod } from './pods.ts';
import { backupToken, CLIENT, PREFIX } from './release.ts';

/**
 * Runs in a pod: signs up users, opens sockets for each, subscribes on every socket, creates one task per user and waits until
 * every socket has received it. Arguments: host, users, sockets per user. Prints the number of events received.
 */
const READERS = `
  const { WebSocket } = require('ws');
  const [host, users, sockets] = process.argv.slice(1);
  const call = async (path, body, token) => {
    const headers = { 'content-type': 'application/json', ...(token && { authorization: 'Bearer ' + token }) };
    const response = await fetch('http://' + host + path, { method: 'POST', headers, body: JSON.stringify(body) });
    if (!response.ok) throw new Error(path + ' was answered ' + response.status + ' ' + (await response.text()));
    return response.json();
  };
  let received = 0;
  const query = 'subscription($after: String) { taskChanges(after: $after) { sequence task { id title } } }';
  const open = (token, after) => new Promise((resolve, reject) => {
    const socket = new WebSocket('ws://' + host + '/graphql', 'graphql-transport-ws');
    const send = (message) => socket.send(JSON.stringify(message));
    socket.on('open', () => send({ type: 'connection_init', payload: { authorization: 'Bearer ' + token } }));
    socket.on('error', reject).on('close', (code) => reject(new Error('closed with ' + code)));
    socket.on('message', (data) => {
      const { type } = JSON.parse(data);
      if (type === 'ping') send({ type: 'pong' });
      if (type === 'next') received++;
      if (type !== 'connection_ack') return;
      send({ id: '1', type: 'subscribe', payload: { query, variables: { after } } });
      resolve();
    });
  });
  const user = async (index) => {
    const email = 'reader-' + index + '@example.com';
    const { access_token: token } = await call('/api/auth/signup', { email, password: 'correct horse battery staple', name: 'Ada' });
    const { data } = await call('/graphql', { query: '{ tasks { changesCursor } }' }, token);
    for (let count = 0; count < sockets; count++) await open(token, data.tasks.changesCursor);
    return token;
  };
  const run = async () => {
    const tokens = [];
    const waiting = Array.from({ length: Number(users) }, (_, index) => index);
    await Promise.all(Array.from({ length: 8 }, async () => { while (waiting.length) tokens.push(await user(waiting.pop())); }));
    for (const token of tokens) await call('/api/tasks', { title: 'for every reader' }, token);
    const deadline = Date.now() + 120_000;
    while (received < users * sockets && Date.now() < deadline) await new Promise((resolve) => setTimeout(resolve, 200));
    console.log(JSON.stringify({ received }));
    process.exit();
  };
  run().catch((error) => { console.error(error.message); process.exit(1); });`;

/**
 * Runs in a pod: users who each list, create, read and change tasks, one request after another. Arguments: host, users,
 * seconds. Prints the requests per second, and the number of failed ones.
 */
const REQUESTS = `
  const [host, users, seconds] = process.argv.slice(1);
  let count = 0;
  let failed = 0;
  const call = async (method, path, body, token) => {
    const headers = { ...(body && { 'content-type': 'application/json' }), ...(token && { authorization: 'Bearer ' + token }) };
    const response = await fetch('http://' + host + '/api' + path, { method, headers, ...(body && { body: JSON.stringify(body) }) });
    count++;
    if (!response.ok) failed++;
    return response.json();
  };
  const user = async (index, until) => {
    const email = 'worker-' + index + '@example.com';
    const { access_token: token } = await call('POST', '/auth/signup', { email, password: 'correct horse battery staple', name: 'Ada' });
    while (Date.now() < until) {
      const { data } = await call('POST', '/tasks', { title: 'made among others' }, token);
      await call('GET', '/tasks?limit=50', undefined, token);
      await call('GET', '/tasks/' + data.id, undefined, token);
      await call('PATCH', '/tasks/' + data.id, { completed: true }, token);
      await call('GET', '/tasks/stats', undefined, token);
    }
  };
  const until = Date.now() + seconds * 1_000;
  Promise.all(Array.from({ length: Number(users) }, (_, index) => user(index, until))).then(() => {
    console.log(JSON.stringify({ perSecond: Math.round(count / seconds), failed }));
    process.exit();
  });`;

const USERS = 200;
const SOCKETS = 10;
const MIB = 1024 * 1024;
const SERVICES = ['gateway', 'auth', 'tasks', 'backup'];

/** Prints a service process's peak memory, and the CPU time of the process and its former children. */
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
    await create(pod({ name: 'readers', namespace, labels: CLIENT }));
  }, 180_000);
  let begun: { atMs: number; figures: Awaited<ReturnType<typeof allFigures>> };
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
        return JSON.parse(await runIn(product().namespace, name, FIGURES)) as Record<'peakMib' | 'cpuMs', number>;
      }),
    );

  it(`a gateway feeds ${USERS * SOCKETS} readers`, async () => {
    const { namespace } = product();
    const output = await runIn(namespace, 'readers', READERS, `${PREFIX}-gateway`, String(USERS), String(SOCKETS));
    expect(JSON.parse(output)).toEqual({ received: USERS * SOCKETS });
  }, 900_000);

  it('serves users who list, read, create and change tasks', async () => {
    const { namespace } = product();
    const output = await runIn(namespace, 'readers', REQUESTS, `${PREFIX}-gateway`, '8', '30');
    console.info(output.trim());
    expect(JSON.parse(output)).toMatchObject({ failed: 0 });
  }, 300_000);

  /** Makes backup verify an archive with this dump. */
  const prove = async (name: string, write: (dump: number) => void) => {
    const file = openSync(join(dir, 'database.sql'), 'w');
    write(file);
    closeSync(file);
    execFileSync('tar', ['-czf', join(dir, name), '-C', dir, 'database.sql']);
    const headers = { authorization: `Bearer ${token}` };
    const url = `${product().way.url}/api/backups/${name}`;
    expect((await fetch(url, { method: 'PUT', headers, body: readFileSync(join(dir, name)) })).status).toBe(201);
    const response = await fetch(`${url}/verify`, { method: 'POST', headers });
    return { status: response.status, text: await response.text() };
  };
  const BEGIN = `create table public.tasks (
    id uuid primary key, user_id uuid not null, title varchar(255) not null, description text, completed boolean not null,
    due_date timestamptz, category text, priority text not null, created_at timestamptz not null, updated_at timestamptz not null);
copy public.tasks (id, user_id, title, description, completed, due_date, category, priority, created_at, updated_at) from stdin;
`;
  const END = ['f', '\\N', '\\N', 'high', '2026-01-01', '2026-01-01'];
  const row = (description: string) => [randomUUID(), randomUUID(), 'title', description, ...END].join('\t');

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
