import { createFaultyProxy, eventually, type FaultyProxy } from '@taskmesh/testing';
import { makeBackup, register, restoreBackup } from '../../http.ts';
import { useProduct } from '../../product.ts';
import { execFileSync, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';

const ROOT = join(import.meta.dirname, '../../..');
const EXAMPLES = join(ROOT, 'docs/examples');
const PYTHON = join(EXAMPLES, 'python');
/** The packages of channel.py, apart from the machine's own Python. */
const PACKAGES = join(ROOT, '.cache/examples-python');

interface Example {
  name: string;
  /** The programs that this machine must have. */
  needs: string;
  isThere: boolean;
  /** Prepares the program, and returns the command that starts it. */
  command(): string[];
  env?: Record<string, string>;
  /** Returns the change that a printed line reports, if any. */
  changeIn(line: string): string | undefined;
  /** Whether it prints changes made while it was disconnected one by one; otherwise, it reads the list again. */
  resumes: boolean;
}

const changeIn = (line: string) => (/^(INSERT|UPDATE|DELETE) /.test(line) ? line : undefined);

const ofNode = (name: string, env: Record<string, string> = {}): Example => ({
  ...{ name: [`${name}.mjs`, ...Object.values(env)].join(' '), needs: 'Node', isThere: true, env },
  ...{ command: () => [process.execPath, join(EXAMPLES, `${name}.mjs`)], changeIn, resumes: true },
});

/** The Java example prints the results as JSON. */
function changeInJson(line: string): string | undefined {
  if (!line.startsWith('{"data":{"taskChanges"')) return undefined;
  const { data } = JSON.parse(line) as { data: { taskChanges: { kind: string; task: { title: string } } } };
  return `${data.taskChanges.kind} ${data.taskChanges.task.title}`;
}

/** Returns a Python with the packages of requirements.txt, which are installed once. */
function installedPython(): string {
  const python = join(PACKAGES, 'bin/python');
  if (!existsSync(python)) execFileSync('python3', ['-m', 'venv', PACKAGES]);
  execFileSync(python, ['-m', 'pip', 'install', '--quiet', '--requirement', join(PYTHON, 'requirements.txt')]);
  return python;
}

const EXAMPLE_PROGRAMS: Example[] = [
  ...['graphql-ws', 'sse', 'multipart', 'supabase'].map((name) => ofNode(`feeds/${name}`)),
  ...['apollo', 'urql', 'relay', 'tanstack-query'].map((name) => ofNode(`front-ends/${name}`)),
  ofNode('front-ends/apollo', { APOLLO_VERSION: '3' }),
  {
    ...{ name: 'python/live.py', needs: 'python3 (3.9 or later)', changeIn, resumes: true },
    isThere: runs('python3', ['-c', 'import sys; assert sys.version_info >= (3, 9)']),
    command: () => ['python3', join(PYTHON, 'live.py')],
  },
  {
    ...{ name: 'python/channel.py', needs: 'python3 (3.11 or later) with venv and pip', changeIn, resumes: false },
    isThere: runs('python3', ['-c', 'import sys, venv, ensurepip; assert sys.version_info >= (3, 11)']),
    command: () => [installedPython(), join(PYTHON, 'channel.py')],
  },
  {
    ...{ name: 'java/Live.java', needs: 'java (a JDK, 17 or later)', changeIn: changeInJson, resumes: true },
    isThere: runs('javac', ['--release', '17', '--version']),
    command: () => ['java', join(EXAMPLES, 'java/Live.java')],
  },
];

function runs(program: string, args: string[]): boolean {
  if (!(process.env.PATH ?? '').split(delimiter).some((folder) => existsSync(join(folder, program)))) return false;
  try {
    execFileSync(program, args, { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/** Starts a program. `ended` resolves with its exit code or signal. */
function startProgram(command: string[], env: Record<string, string>) {
  const [file = '', ...args] = command;
  const { PATH, HOME } = process.env;
  const child = spawn(file, args, { env: { PATH, HOME, ...env }, stdio: ['ignore', 'pipe', 'pipe'] });
  let [output, errors] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (errors += text));
  const ended = new Promise<string>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => resolve(String(code ?? signal)));
  });
  return {
    lines: () => output.split('\n').slice(0, -1),
    errors: () => errors,
    ended,
    async stop() {
      child.kill('SIGKILL');
      await ended;
    },
  };
}

/** Includes compiling the program and installing its packages. */
const START_MS = 120_000;
const SOON = { timeoutMs: 30_000 };

const product = useProduct('start');
let network: FaultyProxy;
beforeAll(async () => {
  const { hostname: host, port } = new URL(product().url);
  network = await createFaultyProxy({ host, port: Number(port) });
});

/** Starts the example for an account with one task, and waits until it is live. */
async function start({ command, env, changeIn }: Example) {
  const owner = await register(product().url);
  await owner.create('before');
  const TASKMESH_URL = `http://${network.host}:${network.port}`;
  const program = startProgram(command(), { TASKMESH_URL, TASKMESH_TOKEN: owner.token, ...env });
  const state = () => program.lines().findLast((line) => line === 'live' || line === 'reconnecting');
  try {
    await eventually(() => expect(state()).toBe('live'), { timeoutMs: START_MS });
    await eventually(() => expect(program.lines().join('\n')).toContain('before'), SOON);
  } catch (error) {
    await program.stop();
    throw new Error(`It did not begin: ${program.errors()}`, { cause: error });
  }
  return {
    ...{ owner, program, state },
    changes: () => program.lines().flatMap((line) => changeIn(line) ?? []),
    list: () => program.lines().filter((line) => line.startsWith('- ')),
  };
}

/** Cuts the example's connection, makes changes elsewhere, and expects the example to catch up. */
async function surviveCut(example: Example): Promise<void> {
  const { owner, program, state, changes, list } = await start(example);
  try {
    const one = await owner.create('one');
    await eventually(() => expect(changes()).toEqual(['INSERT one']), SOON);

    await network.cut();
    await eventually(() => expect(state()).toBe('reconnecting'), SOON);
    await owner.create('two');
    await owner.change(one, { title: 'one, changed' });
    await owner.remove(await owner.create('three'));
    expect(changes()).toEqual(['INSERT one']);
    await network.restore();
    await eventually(() => expect(state()).toBe('live'), SOON);
    const missed = ['INSERT two', 'UPDATE one, changed', 'INSERT three', 'DELETE three'];
    if (!example.resumes)
      await eventually(() => expect(list()).toEqual(['- before', '- two', '- one, changed', '- before']), SOON);
    await owner.create('four');
    await eventually(() => expect(changes().at(-1)).toBe('INSERT four'), SOON);
    expect(changes()).toEqual(['INSERT one', ...(example.resumes ? missed : []), 'INSERT four']);
    const cached = () => program.lines().findLast((line) => line.startsWith('= '));
    if (example.name.startsWith('front-ends/'))
      await eventually(() => expect(cached()).toBe('= four, two, one, changed, before'), SOON);

    await owner.signOut();
    expect(await program.ended).toBe('1');
    expect(program.errors()).toContain('UNAUTHENTICATED');
  } catch (error) {
    throw new Error(`It printed:\n${program.lines().join('\n')}\n${program.errors()}`, { cause: error });
  } finally {
    await program.stop();
  }
}

for (const example of EXAMPLE_PROGRAMS) {
  const { name, needs, isThere } = example;
  const title = `docs/examples/${name} misses nothing while its connection is cut, and ends with its session`;
  if (isThere) it(title, () => surviveCut(example), 240_000);
  else it.skip(`${title} (needs ${needs})`, () => {});
}

/** All examples at once, because they wait long for events at the server. */
describe('all examples', () => {
  const running: Awaited<ReturnType<typeof start>>[] = [];
  beforeAll(async () => {
    running.push(...(await Promise.all(EXAMPLE_PROGRAMS.filter(({ isThere }) => isThere).map(start))));
  }, START_MS);
  afterAll(() => Promise.all(running.map(({ program }) => program.stop())));

  it('notice that the network silently dropped the connection', async () => {
    network.strand();
    await Promise.all(running.map(({ owner }) => owner.create('unheard')));
    for (const { program, state } of running) {
      const isBack = () => program.lines().includes('reconnecting') && state() === 'live';
      await eventually(isBack, { timeoutMs: 120_000 });
      await eventually(() => expect(program.lines().join('\n')).toContain('unheard'), SOON);
    }
  }, 180_000);

  it('read the list again when the tasks are restored from a backup, until that succeeds', async () => {
    const file = await makeBackup(product().url);
    await Promise.all(running.map(({ owner }) => owner.create('made after the backup')));
    for (const { changes } of running)
      await eventually(() => expect(changes().at(-1)).toBe('INSERT made after the backup'), SOON);
    const printed = running.map(({ program }) => program.lines().length);
    network.refuse('tasks(first');
    expect(await restoreBackup(product().url, file)).toMatchObject({ status: 200, body: { success: true } });
    for (const { program } of running)
      await eventually(() => expect(program.errors().match(/503/g)?.length).toBeGreaterThan(1), SOON);
    network.refuse();
    for (const [index, { owner, program, changes }] of running.entries()) {
      const since = () => program.lines().slice(printed[index]).join('\n');
      await eventually(() => expect(since()).toContain('before'), SOON);
      expect(since()).not.toContain('made after the backup');
      await owner.create('made after the restore');
      await eventually(() => expect(changes().at(-1)).toBe('INSERT made after the restore'), SOON);
    }
  });

  it('end if their session ended while they were disconnected', async () => {
    await network.cut();
    for (const { state } of running) await eventually(() => expect(state()).toBe('reconnecting'), SOON);
    await Promise.all(running.map(({ owner }) => owner.signOut()));
    await network.restore();
    for (const { program } of running) {
      await eventually(() => expect(program.errors()).toContain('UNAUTHENTICATED'), { timeoutMs: 60_000 });
      expect(await program.ended).toBe('1');
    }
  });
});
