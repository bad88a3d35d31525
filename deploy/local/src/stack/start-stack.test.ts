import { findFreePort, isAlive, killRecordedProcesses } from '@taskmesh/local-servers';
import { runScript, temporaryDir } from '@taskmesh/local-servers/testing';
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { atEnd, eventually, requiredAddress } from '@taskmesh/testing';
import { INNER_SERVICES } from './inner-services.ts';
import type { StackOptions } from './stack.ts';
import { startStack, type Stack, type StackState } from './start-stack.ts';

const SRC = new URL('../', import.meta.url).href;
const dir = temporaryDir('stack');

/** Services that only report their environment, and record when they were signalled to end. */
const FAKE_SERVICE = `
  import { appendFileSync } from 'node:fs';
  import { createServer } from 'node:http';
  const { HOST, PORT, ADMIN_PORT, DATA_DIR, FAIL, STOP_MS } = process.env;
  appendFileSync(DATA_DIR + '/starts', import.meta.url.split('/').at(-3) + '\\n');
  if (FAIL && import.meta.url.includes(FAIL)) { console.error('cannot start: ' + FAIL); process.exit(1); }
  const environment = createServer((_request, response) => response.end(JSON.stringify(process.env))).listen(Number(PORT), HOST);
  createServer((_request, response) => response.end('{}')).listen(Number(ADMIN_PORT), HOST);
  process.on('SIGTERM', () => {
    appendFileSync(DATA_DIR + '/stops', import.meta.url.split('/').at(-3) + '\\n');
    setTimeout(() => process.exit(0), Number(STOP_MS ?? 0));
  });
`;
const servicesDir = join(dir, 'services');
beforeAll(() => {
  for (const service of [...INNER_SERVICES, 'gateway']) {
    mkdirSync(join(servicesDir, service, 'src'), { recursive: true });
    writeFileSync(join(servicesDir, service, 'src', 'main.ts'), FAKE_SERVICE);
  }
});

const POSTGRES_URL = requiredAddress('POSTGRES_URL');
const REDIS_URL = requiredAddress('REDIS_URL');
const KAFKA_BROKERS = requiredAddress('KAFKA_BROKERS');

const optionsFor = (name: string, { env, ...others }: Partial<StackOptions> = {}): StackOptions => ({
  ...{ dataDir: join(dir, name), log: () => undefined, servicesDir },
  ...{ ...others, env: { ...process.env, POSTGRES_URL, REDIS_URL, KAFKA_BROKERS, ...env } },
});

async function start(options: StackOptions): Promise<Stack> {
  const stack = await startStack(options);
  atEnd(() => stack.stop()); // left running by a failed test, it would restart its services during all others
  return stack;
}

const environmentOf = async (url: string) => (await (await fetch(url)).json()) as Record<string, string>;

const stateOf = (name: string): StackState => JSON.parse(readFileSync(join(dir, name, 'stack.json'), 'utf8'));

const linesOf = (name: string, file: 'starts' | 'stops') =>
  readFileSync(join(dir, name, file), 'utf8')
    .trim()
    .split('\n');

describe('a stack', () => {
  const name = 'settings';
  const keys = () =>
    ['access-tokens', 'gateway-identity'].map((key) => readFileSync(join(dir, name, `keys/${key}.json`), 'utf8'));
  const database = (path: string) => Object.assign(new URL(POSTGRES_URL), { pathname: `/${path}` }).href;
  let first: string[];

  it('passes on the required and the user’s settings to every service, and does not share its data directory', async () => {
    const stack = await start(optionsFor(name, { gateways: 2, env: { RATE_LIMIT_FACTOR: '7' } }));
    expect([...stack.processes.keys()].sort()).toEqual([...INNER_SERVICES, 'gateway-1', 'gateway-2'].sort());
    const urlOf = (service: string) => stack.processes.get(service)?.current.url ?? '';
    const [auth, tasks, backup, gateway] = await Promise.all(
      ['auth', 'tasks', 'backup', 'gateway-2'].map((service) => environmentOf(urlOf(service))),
    );
    const common = { KAFKA_BROKERS, RATE_LIMIT_FACTOR: '7' };
    expect(auth).toMatchObject({ ...common, POSTGRES_URL: database('taskmesh_auth'), REDIS_URL });
    expect(tasks).toMatchObject({ ...common, POSTGRES_URL: database('taskmesh_tasks'), AUTH_URL: urlOf('auth') });
    expect(backup).toMatchObject({ TASKS_URL: urlOf('tasks'), TASKS_ADMIN_URL: database('taskmesh_tasks') });
    const ofGateway = { AUTH_URL: urlOf('auth'), REDIS_URL, KAFKA_BROKERS, PUBLIC_URL: stack.urls[0] };
    expect(gateway).toMatchObject({ ...ofGateway, POSTGRES_URL }); // as the user set it: the gateway has no database of its own
    const publicKeys = JSON.parse(readFileSync(gateway?.IDENTITY_PUBLIC_KEYS_FILE ?? '', 'utf8')).keys as object[];
    const { kid } = JSON.parse(readFileSync(gateway?.IDENTITY_KEY_FILE ?? '', 'utf8')) as { kid: string };
    expect(publicKeys).toContainEqual(expect.objectContaining({ kid }));
    expect(publicKeys.filter((key) => 'd' in key)).toEqual([]);
    expect(stack.machineToken?.file).toBe(join(gateway?.DATA_DIR ?? '', 'keys', 'machine-token'));
    expect(Object.values(gateway ?? {}).join()).not.toContain(stack.machineToken?.token);

    await expect(start(optionsFor(name))).rejects.toThrow(/Another stack has its data in .* \(process \d+\)/);
    await environmentOf(stack.urls[0] ?? '');
    first = keys();
  });

  it('stopped the gateways before the services, and left nothing behind', () => {
    expect(existsSync(join(dir, name, 'stack.json'))).toBe(false);
    expect(linesOf(name, 'stops').slice(0, 2)).toEqual(['gateway', 'gateway']);
  });

  it('keeps its keys after a restart, treats an empty setting as missing, and can share a server with its prefix', async () => {
    const set = { PUBLIC_URL: '', ACCESS_TOKEN_KEYS_FILE: '', TASKS_ADMIN_URL: '', BACKUPS_DIR: '' };
    const stack = await start(optionsFor(name, { env: { ...set, DATABASE_PREFIX: 'staging_' } }));
    const envOf = (service: string) => environmentOf(stack.processes.get(service)?.current.url ?? '');
    expect(keys()).toEqual(first);
    expect((await envOf('gateway-1')).PUBLIC_URL).toBe(stack.urls[0]);
    expect((await envOf('auth')).ACCESS_TOKEN_KEYS_FILE).toMatch(/^\//);
    expect((await envOf('tasks')).POSTGRES_URL).toBe(database('staging_tasks'));
    const { TASKS_ADMIN_URL, BACKUPS_DIR } = await envOf('backup');
    expect([TASKS_ADMIN_URL, BACKUPS_DIR]).toEqual([database('staging_tasks'), join(dir, name, 'backups')]);
  });

  it('restarts a killed service at the same address, also where stack.json and the note of its lock cannot be written', async () => {
    const stack = await start(optionsFor('revived'));
    const path = (file: string) => join(dir, 'revived', file);
    const tasks = stack.processes.get('tasks');
    const { pid = 0, current } = tasks ?? {};
    const revive = async () => {
      tasks?.kill('SIGKILL');
      await tasks?.waitExit();
      await tasks?.waitReady();
      await environmentOf(current?.url ?? '');
    };
    await revive();
    const state = stateOf('revived').processes.find((each) => each.name === 'tasks');
    expect(state).toMatchObject({ isUp: true, pid: tasks?.pid, url: current?.url });
    expect(state?.pid).not.toBe(pid);
    mkdirSync(path('stack.json.new')); // so that stack.json cannot be written
    rmSync(path('run/stack.lock-holder'));
    symlinkSync('/dev/full', path('run/stack.lock-holder'));
    await revive();
    const pids = [...stack.processes.values()].map((each) => each.pid);
    expect(pids.filter(isAlive)).toEqual(pids);
    await stack.stop();
    expect(pids.filter(isAlive)).toEqual([]);
  });

  it('does not restart a service that the signal for the stop has already ended', async () => {
    const stack = await start(optionsFor('signalled', { env: { STOP_MS: '1000', BACKUP_TOKEN: 'secret' } }));
    expect(stack.machineToken).toBeUndefined(); // because there is a backup token
    expect(existsSync(join(dir, 'signalled', 'keys', 'machine-token'))).toBe(false);
    const { tasks, 'gateway-1': gateway } = Object.fromEntries(stack.processes);
    tasks?.kill('SIGINT');
    const stopping = stack.stop();
    await tasks?.waitExit();
    await gateway?.waitExit(); // takes longer than the first delay before a restart
    await stopping;
    expect(linesOf('signalled', 'starts').toSorted()).toEqual([...INNER_SERVICES, 'gateway'].sort());
  });

  it('does not start on ports in use, and reports them', async () => {
    const port = await findFreePort();
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(port, '127.0.0.1', resolve));
    const starting = start(optionsFor('ports', { port: port - 1, gateways: 2 }));
    await expect(starting).rejects.toThrow(`Port ${port} is taken by another program: end it, or set PORT`);
    await new Promise((resolve) => other.close(resolve));
    const twice = start(optionsFor('ports', { port, adminPort: port + 1, gateways: 2 }));
    await expect(twice).rejects.toThrow(`PORT and ADMIN_PORT both lead to port ${port + 1}: change one of them`);
  });

  it('reports which service failed and why, and stops the others', async () => {
    const starting = start(optionsFor('failed', { env: { FAIL: 'tasks' } }));
    await expect(starting).rejects.toThrow(/^tasks ended \(exit code 1\)[^]*cannot start: tasks/);
    const others = INNER_SERVICES.filter((name) => name !== 'tasks');
    expect(linesOf('failed', 'stops').sort()).toEqual([...others, 'gateway'].sort());
  });

  it('can be aborted while it starts', async () => {
    const giveUp = new AbortController();
    const lines: string[] = [];
    const log = (line: string) => {
      lines.push(line);
      giveUp.abort(); // as soon as the first service is ready
    };
    await expect(start(optionsFor('given-up', { log, signal: giveUp.signal }))).rejects.toThrow();
    expect(lines[0]).toMatch(/is ready/);
    await (await start(optionsFor('given-up'))).stop();
    lines.length = 0;
    const before = { env: { POSTGRES_URL: undefined }, log, signal: AbortSignal.abort() };
    await expect(start(optionsFor('no-servers', before))).rejects.toThrow();
    expect(lines).toEqual([]);
  });

  it('reports a process that does not even end when killed, and exits with 1, if it is aborted while it starts', async () => {
    const { log: _log, ...options } = optionsFor('undying');
    const command = runScript(
      `
      import { writeSync } from 'node:fs';
      import { runCommand } from '$src/command.ts';
      import { startStack } from '$src/stack/start-stack.ts';
      let output = '';
      process.stdout.write = () => true;
      process.stderr.write = (text) => !!(output += text);
      process.on('exit', (code) => writeSync(1, JSON.stringify({ code, output }) + '\\n'));
      const giveUp = () => {
        const { kill } = process;
        process.kill = (pid, signal) => signal !== 0 || kill.call(process, pid, 0);
        let now = performance.now();
        performance.now = () => (now += 1_000); // the test must not wait for an event that never happens
        process.emit('SIGTERM');
      };
      let isReady = false;
      const log = () => { if (!isReady) giveUp(); isReady = true; };
      await runCommand({ start: (signal) => startStack({ ...${JSON.stringify(options)}, log, signal }) });
    `,
      SRC,
    );
    atEnd(() => killRecordedProcesses(options.dataDir));
    expect(await command.nextLine()).toEqual({
      code: 1,
      output: expect.stringMatching(/^Process \d+ \([\w-]+\) does not end, not even when it is killed\./),
    });
  });

  it('ends the processes that a killed one left behind before it starts', async () => {
    const { log: _log, ...options } = optionsFor('killed', { gateways: 2 });
    const killed = runScript(
      `
      import { startStack } from '$src/stack/start-stack.ts';
      await startStack({ ...${JSON.stringify(options)}, log: () => undefined });
      console.log('"up"');
    `,
      SRC,
    );
    expect(await killed.nextLine()).toBe('up');
    const left = stateOf('killed').processes;
    await killed.killAndWait();
    expect(left.filter(({ pid }) => isAlive(pid))).toHaveLength(INNER_SERVICES.length + 2);

    const lines: string[] = [];
    const stack = await start(optionsFor('killed', { log: (line) => lines.push(line) }));
    await eventually(() => expect(left.filter(({ pid }) => isAlive(pid))).toEqual([]));
    expect(lines.filter((line) => line.includes('left over from an earlier run'))).toHaveLength(5);
    await stack.stop();
  });
});
