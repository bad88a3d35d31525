import { databaseUrl, printLine, serviceDatabase, startStack, type Stack, type StackProcess } from '@taskmesh/local';
import { eventually, makeTempDir, nodeEnvironment, ownInstallation, query } from '@taskmesh/testing';
import { startSignInProvider } from '@taskmesh/testing/sign-in-provider';
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { setPriority } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { logIn, newAccount, PASSWORD, register } from '../../http.ts';
import { GATEWAY_FLAGS } from '../limits/measured-product.ts';
import { KEPT_MIB, MEMORY_LIMIT_MIB } from '../limits/suite.ts';
import { COLLECT_ON_SIGNAL } from '../soak/samples.ts';
import type { Attack } from './attack.main.ts';
import { createClient, type Sender } from './clients.ts';
import { WAYS, type Group } from './ways.ts';

const [ACCOUNTS, FOR_MS, EVERY_MS, PATIENCE_MS, SETTLED_MS] = [40, 4_000, 50, 10_000, 5_000];
/** How much slower others may become, and how slow in any case: the attackers and all servers, too, run on this machine. */
const [SLOWER, SLOW_MS] = [10, 2_500];
type Canary = Awaited<ReturnType<typeof startCanary>>;
const [PUBLIC_URL, SSE] = ['http://tasks.example', 'text/event-stream'];

const installation = ownInstallation();
const dataDir = makeTempDir();
const provider = await startSignInProvider({ redirectUri: `${PUBLIC_URL}/api/auth/oidc/callback` });
let stack: Stack;
let gateway: StackProcess;
let attackers: ChildProcess;
let attackersEnd: Promise<unknown>;
let senders: Record<Group, Sender[]>;
let canaries: Canary[] = [];
let alone: { p99Ms: number; usedMib: number };

beforeAll(async () => {
  const env = {
    ...{ ...nodeEnvironment(), ...installation, LOG_LEVEL: 'warn', BACKUP_TOKEN: 'token-of-operators', PUBLIC_URL },
    ...{ OIDC_ISSUER: provider.issuer, OIDC_CLIENT_ID: provider.clientId, OIDC_CLIENT_SECRET: provider.clientSecret },
    ...{ MALLOC_ARENA_MAX: '1', UV_THREADPOOL_SIZE: '16', APOLLO_TELEMETRY_DISABLED: '1' }, // as in the images
    NODE_OPTIONS: [...GATEWAY_FLAGS, COLLECT_ON_SIGNAL].join(' '),
  };
  stack = await startStack({ dataDir, env, restart: false, log: () => undefined });
  gateway = stack.processes.get('gateway-1') as StackProcess; // every stack has one
  attackers = fork(new URL('attack.main.ts', import.meta.url), { execArgv: ['--disable-warning=ExperimentalWarning'] });
  attackersEnd = once(attackers, 'exit');
  setPriority(attackers.pid ?? 0, 10); // others must not wait for the CPU because of the work of sending
  senders = await createSenders(gateway.current.url);
  canaries = await Promise.all(['127.0.2.1', '127.0.2.2'].map((host) => startCanary(gateway.current.url, host)));
  await work(); // warms it up
  alone = { usedMib: await collectedMib(), p99Ms: percentile((await work()).times, 0.99) };
  printLine(`| way | group | failures | p50 | p99: ${alone.p99Ms.toFixed(0)} ms alone | pause, ms | MiB | outcomes |`);
}, 240_000);

afterAll(async () => {
  for (const canary of canaries) canary.close();
  attackers.kill();
  await stack.stop();
}, 60_000);

it.each(WAYS)('others notice little of %s', async (way, groups, expected) => {
  const [breaches, seen]: [string[], string[]] = [[], []];
  for (const group of groups) {
    await metrics(); // the longest pause is the one since then
    writeFileSync(`/proc/${gateway.pid}/clear_refs`, '5'); // the peak of memory, too
    const attacked = once(attackers, 'message');
    attackers.send([way, group, senders[group], FOR_MS] satisfies Attack);
    const { times, failures } = await work();
    const [outcomes] = (await Promise.race([attacked, attackersEnd])) as [Record<string, number>];
    if (attackers.exitCode !== null) throw new Error('The attackers have ended.');
    const rssMib = Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${gateway.pid}/status`, 'utf8'))?.[1]) / 1_024;
    const p99Ms = percentile(times, 0.99);
    const figures = [percentile(times, 0.5), p99Ms, (await metrics()).pauseMs, rssMib].map((each) => each.toFixed(0));
    const cells = [way, group, `${failures.length} of ${times.length}`, ...figures, JSON.stringify(outcomes)];
    printLine(`| ${cells.join(' | ')} |`);
    seen.push(...Object.keys(outcomes));
    if (rssMib >= MEMORY_LIMIT_MIB) breaches.push(`${group}: ${rssMib.toFixed(0)} MiB`);
    if (group === 'addresses') continue;
    if (p99Ms > Math.max(SLOW_MS, SLOWER * alone.p99Ms)) breaches.push(`${group}: ${p99Ms.toFixed(0)} ms`);
    breaches.push(...failures.slice(0, 5).map((failure) => `${group}: ${failure}`));
  }
  expect(seen).toContainEqual(expect.stringMatching(expected)); // what is always refused proves nothing
  expect(breaches).toEqual([]);
  const isLittle = async () => expect((await collectedMib()) - alone.usedMib).toBeLessThan(KEPT_MIB);
  await eventually(isLittle, { timeoutMs: SETTLED_MS, everyMs: 500 });
});

async function metrics() {
  const text = await (await fetch(`${gateway.current.adminUrl}/metrics`)).text();
  const value = (name: string) => Number(new RegExp(`^nodejs_${name}(?:\\{.*\\})? (.+)$`, 'm').exec(text)?.[1]);
  const usedMib = (value('heap_size_used_bytes') + value('external_memory_bytes')) / 2 ** 20;
  return { usedMib, pauseMs: value('eventloop_lag_max_seconds') * 1_000 };
}

async function collectedMib(): Promise<number> {
  process.kill(gateway.pid, 'SIGUSR2');
  await sleep(300);
  return (await metrics()).usedMib;
}

const percentile = (times: number[], share: number) =>
  times.toSorted((one, other) => one - other)[Math.floor(share * (times.length - 1))] ?? 0;

/** Accounts with 1,000 tasks each, and four sessions of the first one. */
async function createSenders(url: string): Promise<typeof senders> {
  const owners = await Promise.all(Array.from({ length: ACCOUNTS }, () => register(url)));
  const taskIds = await Promise.all(owners.map(({ create }) => create('A task with a long text')));
  const copy = "jsonb_build_object('id', gen_random_uuid(), 'description', repeat('😀', 2000))";
  await query(
    databaseUrl(installation.POSTGRES_URL, serviceDatabase('tasks', installation.DATABASE_PREFIX)),
    `insert into tasks select (jsonb_populate_record(t, ${copy})).* from tasks t, generate_series(1, 999)`,
  );
  const sessions = await Promise.all(Array.from({ length: 4 }, () => logIn(url, owners[0] ?? newAccount())));
  const sender = ({ email, token }: Pick<Sender, 'email' | 'token'>, at: number, host = 1): Sender =>
    ({ url, address: `127.0.1.${host}`, email, token, taskId: taskIds[at] }) as Sender;
  return {
    account: sessions.map((session) => sender(session, 0)),
    accounts: owners.map((owner, at) => sender(owner, at)),
    addresses: owners.map((owner, at) => sender(owner, at, 1 + at)),
    strangers: [{ url, address: '127.0.1.1' }],
  };
}

/** Another user at another address, of whom nothing may fail. Returns the requests that it sends. */
async function startCanary(url: string, address: string) {
  const { email, token, create } = await register(url);
  const client = createClient({ url, address, email, token });
  const taskId = await create('A task that is read');
  let received = '';
  const changes = { query: 'subscription { taskChanges { task { title } } }' };
  const open = () => client.send('POST', '/graphql', changes, { accept: SSE }, (text) => (received += text));
  let stream = open();
  await eventually(() => received !== '');
  return {
    read: () => client.get(`/api/tasks/${taskId}`),
    list: () => client.graphql('{ tasks(first: 20) { edges { node { id title } } totalCount } }'),
    login: () => client.post('/api/auth/login', { email, password: PASSWORD }),
    async create() {
      const title = `canary ${client.turn()};`;
      const outcome = await client.post('/api/tasks', { title });
      const arrived = eventually(() => received.includes(title), { timeoutMs: PATIENCE_MS });
      const current = stream;
      const ended = current.then((end) => {
        if (stream === current && !client.isOver()) stream = open(); // for the next way
        return `the stream ended: ${end}`;
      });
      return Promise.race([arrived.then(() => outcome), ended]);
    },
    close: client.close,
  };
}

/** Lets the canaries work steadily. */
async function work() {
  const [times, failures]: [number[], string[]] = [[], []];
  const step = async (canary: Canary, name: 'read' | 'list' | 'login' | 'create') => {
    const begin = performance.now();
    const late = sleep(PATIENCE_MS, 'too late', { ref: false });
    const outcome = await Promise.race([canary[name](), late]).catch(String);
    if (!/^20[01]$/.test(outcome)) failures.push(`${name}: ${outcome}`);
    if (name !== 'login') times.push(performance.now() - begin);
  };
  const steps: Promise<void>[] = [];
  for (let at = 0, beganAt = performance.now(); at < FOR_MS / EVERY_MS; at++) {
    const name = at % 20 === 5 ? 'login' : at % 20 === 15 ? 'create' : at % 2 === 0 ? 'read' : 'list';
    steps.push(...canaries.map((canary) => step(canary, name)));
    await sleep(Math.max(0, beganAt + (at + 1) * EVERY_MS - performance.now()));
  }
  await Promise.all(steps);
  return { times, failures };
}
