import { spawn, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { atEnd, eventually, makeTempDir } from '@taskmesh/testing';

const SCRIPTS = dirname(fileURLToPath(import.meta.url));
const NEAREST = 'libs/service/src/nearest-name.mjs';

/** A fake platform that records what happens to it. */
const FAKE_MAIN = `
  import { appendFileSync } from 'node:fs';
  const note = (line: string) => appendFileSync('notes', line + '\\n');
  const running = setInterval(() => undefined, 1_000);
  const end = (why: string) => { note(why); clearInterval(running); process.exit(7); };
  process.on('SIGTERM', () => end('SIGTERM')).on('SIGINT', () => end('SIGINT')).on('disconnect', () => end('disconnect'));
  note(['up', ...process.argv.slice(2)].join(' '));
`;

/**
 * A fake npm that records its arguments, takes a moment, and fails if a file `npm-fails` says so. While a file `npm-holds`
 * exists, it runs on and ignores every signal. With a file `npm-lies` it installs nothing.
 */
const FAKE_NPM = `
  const { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } = require('node:fs');
  const note = (file, line) => appendFileSync(file, line + '\\n');
  process.on('SIGTERM', () => undefined).on('SIGINT', () => undefined);
  note('npm-pids', String(process.pid));
  note('npm-calls', process.argv.slice(2).join(' '));
  const failure = existsSync('npm-fails') ? readFileSync('npm-fails', 'utf8') : '';
  if (failure) console.error('npm error ' + failure);
  const end = () => {
    if (existsSync('npm-holds')) return setTimeout(end, 20);
    if (!failure && !existsSync('npm-lies')) install();
    process.exit(failure ? 1 : 0);
  };
  const install = () => {
    const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8'));
    const all = process.argv.includes('--include=dev');
    const wanted = Object.entries(packages).filter(([path, { dev }]) => path && (all || !dev));
    mkdirSync('node_modules', { recursive: true });
    for (const [path] of wanted) {
      mkdirSync(path, { recursive: true });
      writeFileSync(path + '/package.json', '{}');
    }
    writeFileSync('node_modules/.package-lock.json', JSON.stringify({ packages: Object.fromEntries(wanted) }));
  };
  setTimeout(end, 50);
`;

/** A fake build of the console that records its calls. */
const FAKE_CONSOLE = `
  import { appendFileSync } from 'node:fs';
  export const provideConsole = async () => appendFileSync('console-calls', 'provided\\n');
`;

/** A fake program that notes the value of an expression. */
const noting = (value: string) => `import { writeFileSync } from 'node:fs'; writeFileSync('notes', ${value});`;

const MAIN = 'deploy/all-in-one/src/main.ts';
const TEST_MAIN = 'deploy/local/src/test-main.ts';
const BACKUP = 'services/backup/cli/main.ts';
const SEED = 'deploy/local/src/seed/main.ts';
const LIST = 'node_modules/.package-lock.json';

type Packages = Record<string, { version?: string; dev?: boolean; optional?: boolean }>;

/** A lock file of npm. */
const lockOf = (packages: Packages) => JSON.stringify({ packages: { '': {}, ...packages } });
const LIBRARY = lockOf({ 'node_modules/library': { version: '1.0.0' } });

const FAKES = {
  'package.json': '{"type":"module"}',
  'package-lock.json': lockOf({ 'node_modules/tool': { version: '1.0.0', dev: true } }),
  [MAIN]: FAKE_MAIN,
  [TEST_MAIN]: FAKE_MAIN,
  [BACKUP]: noting("'backup ' + process.argv[2]"),
  [SEED]: noting("'seed'"),
  'services/gateway/console/build/provide.mjs': FAKE_CONSOLE,
  'npm/npm-cli.js': FAKE_NPM,
  'npm/package.json': '{"type":"commonjs"}',
};

/** Creates a repository with our scripts, fakes of the platform and npm, and `files`. */
function repository(installed?: 'production' | 'all', files: Record<string, string> = {}) {
  const path = makeTempDir();
  const write = (file: string, content: string) => {
    mkdirSync(dirname(join(path, file)), { recursive: true });
    writeFileSync(join(path, file), content);
  };
  const read = (file: string) => readFileSync(join(path, file), 'utf8');
  const has = (file: string) => existsSync(join(path, file));
  const lines = (file: string) => (has(file) ? read(file).trim().split('\n') : []);
  const run = (script: string, ...args: string[]) => {
    const npm = { npm_execpath: join(path, 'npm', 'npm-cli.js'), npm_lifecycle_event: '' };
    const env = { ...process.env, ...npm, UV_THREADPOOL_SIZE: undefined };
    const command = [join(path, 'scripts', script), ...args];
    const child = spawn(process.execPath, command, { cwd: path, env, stdio: ['ignore', 'pipe', 'pipe'] });
    atEnd(() => child.kill()); // if the test fails
    const end = async () => {
      const code = new Promise<number | null>((resolve) => child.once('close', resolve));
      const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
      expect(stderr).not.toMatch(/^ +at /m); // no stack trace: nothing here is a bug
      return { code: await code, stdout, stderr, notes: lines('notes'), calls: lines('npm-calls') };
    };
    return { child, ended: end() };
  };

  cpSync(SCRIPTS, join(path, 'scripts'), { recursive: true });
  cpSync(join(SCRIPTS, '..', '.env.example'), join(path, '.env.example'));
  cpSync(join(SCRIPTS, '..', NEAREST), join(path, NEAREST));
  for (const [file, content] of Object.entries({ ...FAKES, ...files })) write(file, content);
  mkdirSync(join(path, 'node_modules'), { recursive: true });
  if (installed) {
    const { packages }: { packages: Packages } = JSON.parse(read('package-lock.json'));
    const present = Object.entries(packages).filter(([name, { dev }]) => name && (installed === 'all' || !dev));
    for (const [name] of present) write(`${name}/package.json`, '{}');
    write(LIST, JSON.stringify({ packages: Object.fromEntries(present) }));
  }
  return {
    ...{ path, write, read, has, lines, run },
    remove: (file: string) => rmSync(join(path, file), { recursive: true }),
    launch: (script: string, ...args: string[]) => run(script, ...args).ended,
    /** Runs a command until it installs dependencies, which ends when the file `npm-holds` is removed. */
    async runUntilHeld(script: string, ...args: string[]) {
      write('npm-holds', '');
      const running = run(script, ...args);
      await eventually(() => expect(lines('npm-calls')).toHaveLength(1));
      return running;
    },
    async runUntilUp(script: string) {
      const { child, ended } = run(script);
      await eventually(() => expect(lines('notes')).toEqual(['up']));
      child.kill('SIGTERM');
      return ended;
    },
  };
}

type Repository = ReturnType<typeof repository>;

describe('the commands', () => {
  it.each(['start.mjs', 'stack.mjs', 'test.mjs'])('print help without installing anything: %s', async (script) => {
    const { code, stdout, calls } = await repository().launch(script, '--help');
    expect([code, calls]).toEqual([0, []]);
    expect(stdout).toMatch(/^npm (start|run stack|test)/);
  });

  it.each([
    ['start.mjs', '--fast', `Unknown option '--fast'`],
    ['stack.mjs', '--gateway', `Unknown option '--gateway'`],
    ['stack.mjs', '--gateways', `Option '--gateways <value>' argument missing`],
    ['run.mjs', 'tools/none.ts', 'There is no file '],
  ])('reject unknown arguments before installing anything: %s %s', async (script, argument, message) => {
    const { code, stderr, calls } = await repository().launch(script, argument);
    expect([code, stderr, calls]).toEqual([2, expect.stringContaining(message), []]);
  });
});

describe('the settings', () => {
  const SETTING = "process.env.TASKMESH_URL + ' ' + process.env.PATH + (process.env.UV_THREADPOOL_SIZE > 4)";
  const start = (env: string, noted: string) =>
    repository('all', { [MAIN]: noting(noted), '.env': env }).launch('start.mjs');

  it.each([
    ['start.mjs', MAIN, []],
    ['stack.mjs', 'deploy/local/src/main.ts', []],
    ['run.mjs', BACKUP, [BACKUP, 'list']],
    ['run.mjs', SEED, [SEED]],
    ['test.mjs', TEST_MAIN, []],
  ])('in .env are used if the environment has none, except by the tests: %s', async (script, file, args) => {
    const { write, launch } = repository('all', { [file]: noting(SETTING) });
    write('.env', "TASKMESH_URL='Taskmesh <a@example.com>' # why\nPATH=/nowhere\n");
    const { code, notes } = await launch(script, ...args);
    const url = script === 'test.mjs' ? 'undefined' : 'Taskmesh <a@example.com>';
    expect([code, notes]).toEqual([0, [`${url} ${process.env.PATH}true`]]);
  });

  it('in .env may have any whitespace that editors and people use', async () => {
    const names = ['PORT', 'ADMIN_PORT', 'HOST', 'LOG_LEVEL', 'MAIL_FROM', 'DATA_DIR', 'SMTP_URL'];
    const content = `\uFEFFPORT=4100|ADMIN_PORT=1|HOST= |export  LOG_LEVEL=warn # why|\t|\tMAIL_FROM\t=\t'two|lines'|\
export\tDATA_DIR=data|SMTP_URL="smtp://a#b"|ADMIN_PORT=4200`;
    const values = `JSON.stringify(${JSON.stringify(names)}.map((name) => process.env[name]))`;
    const { code, stderr, notes } = await start(content.replaceAll('|', '\r\n'), values);
    const read = ['4100', '4200', '', 'warn', 'two\nlines', 'data', 'smtp://a#b'];
    expect([code, stderr, notes]).toEqual([0, '', [JSON.stringify(read)]]);
  });

  it.each([
    ['.env', '# settings\nPORT=4000\nBACKUP_TOKEN: a-secret\n', 'line 3: write BACKUP_TOKEN=…'],
    ['.env', 'MAIL_FROM="two\nlines"\nsome secret words\nPORT=5304\n', 'line 3: is not NAME=value\n'],
    ['.env', 'HOST= #1\nBACKUP_TOKEN=a#secret\n', 'nothing:\n  - line 2: # begins a comment: put the value in quotes'],
    ['.env/file', '', '.env cannot be read ('],
  ])('prevent a start if they are invalid, without showing values: %s with %j', async (file, content, expected) => {
    const { launch } = repository('all', { [MAIN]: noting("''"), [file]: content });
    const { code, stderr, notes } = await launch('start.mjs');
    expect([code, stderr, notes]).toEqual([1, expect.stringContaining(expected), []]);
    expect(stderr).not.toContain('secret');
  });

  it('in .env are reported if their names are unknown, without values and lines that may be secrets', async () => {
    const content = `PORT=4100 PGSSLMODE=require export\tLOG_LEVEL=info HTTPS_PROXY=http://127.0.0.1:1 #RATE_LIMIT=1
      PROT=5304 FOO=hidden ACCESS_TOKEN_TTL=100 SMTP_HOST=hidden DATABASE_PERFIX=hidden AWS_REGION=eu-west-1 UV_THREADPOOL_SIZE=16
      MALLOC_ARENA_MAX=2 BACKUP_TOKEN= YSBzZWNyZXQgb2YgMTYhIQ== port=1`;
    const values = 'JSON.stringify([process.env.PROT ?? null, process.env.FOO ?? null, process.env.PORT ?? null])';
    const { code, stderr, notes } = await start(content.replaceAll(/[ \n]+/g, '\n'), values);
    expect([code, notes]).toEqual([0, ['[null,"hidden","4100"]']]); // a name that the program would report again is not passed on
    const listed = '.env.example lists all settings.';
    const expected = {
      ...{ '6: PROT': 'is PORT meant?', '7: FOO': listed, '8: ACCESS_TOKEN_TTL': 'is ACCESS_TOKEN_TTL_S meant?' },
      ...{ '9: SMTP_HOST': 'is SMTP_URL meant?', '10: DATABASE_PERFIX': 'is DATABASE_PREFIX meant?' },
      ...{ '15: its name': listed, '16: port': listed },
    };
    expect(stderr.trim().split('\n')).toEqual(
      Object.entries(expected).map(([name, hint]) => `.env, line ${name} is not a setting and is ignored: ${hint}`),
    );
  });
});

describe('the installation', () => {
  it('installs only production dependencies, once: another start ends with the reason meanwhile', async () => {
    const { remove, launch, lines, runUntilHeld } = repository();
    const { child, ended } = await runUntilHeld('start.mjs');
    const refusal =
      /^Another command is installing dependencies here \(process \d+\)\. Start again when it has finished, or remove .*lock/;
    expect(await launch('start.mjs')).toMatchObject({ code: 1, stderr: expect.stringMatching(refusal) });
    remove('npm-holds');
    await eventually(() => expect(lines('notes')).toEqual(['up']));
    child.kill('SIGTERM');
    const { calls } = await ended;
    expect(calls).toEqual([expect.stringMatching(/^install .*--omit=dev/)]);
    // From the lock file, independent of npm’s settings.
    for (const option of ['--package-lock', '--no-legacy-peer-deps', '--include=peer', '--include=optional'])
      expect(calls[0]).toContain(` ${option} `);
    expect(lines('console-calls')).toEqual(['provided']);
  });

  it.each([
    ['backup list', [BACKUP, 'list']],
    ['seed', [SEED]],
  ])('is not changed by npm run %s while the product runs', async (note, args) => {
    const { launch } = repository('production');
    expect(await launch('run.mjs', ...args)).toMatchObject({ code: 0, notes: [note], calls: [] });
  });

  it.each(['SIGINT', 'SIGKILL'] as const)(
    'keeps what the product needs when tools are being added and %s ends npm',
    async (signal) => {
      const files = { 'package-lock.json': lockWith('1.0.0'), 'tools/tool.mjs': noting("''") };
      const product = repository('production', files);
      const { child, ended } = await product.runUntilHeld('run.mjs', 'tools/tool.mjs');
      product.write('node_modules/tool/half', '');
      if (signal === 'SIGKILL') process.kill(Number(product.lines('npm-pids')[0]), signal);
      else child.kill(signal);
      await ended;
      product.remove('npm-holds');
      expect((await product.launch('run.mjs', BACKUP, 'list')).calls).toHaveLength(1);
      expect((await product.launch('run.mjs', 'tools/tool.mjs')).calls).toHaveLength(2);
      expect(product.has('node_modules/tool/half')).toBe(false);
    },
  );

  const lockWith = (version: string) =>
    lockOf({ 'node_modules/library': { version }, 'node_modules/tool': { version: '1.0.0', dev: true } });

  it.each<[string, string, (repository: Repository) => void]>([
    ['start.mjs', 'a pull', ({ write }) => write('package-lock.json', lockWith('2.0.0'))],
    ['test.mjs', 'the loss of a package', ({ remove }) => remove('node_modules/tool')],
  ])('is repeated by %s after %s, and keeps all tools, even if npm fails', async (script, _what, change) => {
    const changed = repository('all', { 'package-lock.json': lockWith('1.0.0'), 'npm-fails': 'code ENOTFOUND' });
    const { read, has, launch, remove, runUntilUp } = changed;
    const before = read(LIST);
    change(changed);
    const hadTool = has('node_modules/tool/package.json');
    expect((await launch(script)).code).toBe(1);
    expect([read(LIST), has('node_modules/tool/package.json')]).toEqual([before, hadTool]);
    remove('npm-fails');
    expect((await runUntilUp(script)).calls).toEqual(Array(2).fill(expect.stringMatching(/--include=dev/)));
  });

  it.each([
    [1, 'this machine', {}],
    [1, 'this machine, with any C library', { libc: ['glibc', 'musl'] }],
    [0, 'another system', { os: ['other'] }],
    [0, 'another processor', { cpu: ['other'] }],
    [0, 'another C library', { libc: ['other'] }],
  ])('calls npm %i times if it has left out an optional package for %s', async (calls, _what, variant) => {
    const program = { optional: true, os: [process.platform], cpu: [process.arch], ...variant };
    const lock = lockOf({ 'node_modules/program': program });
    const { remove, launch } = repository('production', { 'package-lock.json': lock });
    remove('node_modules/program');
    expect(await launch('run.mjs', BACKUP, 'list')).toMatchObject({ code: 0, calls: { length: calls } });
  });

  it('reports in plain words that its folder is not writable, and is skipped if npm has installed everything', async () => {
    const files = { '.cache': '' }; // prevents the lock, even for root
    const { code, stderr, notes, calls } = await repository(undefined, files).launch('run.mjs', BACKUP, 'list');
    expect([code, notes, calls]).toEqual([1, [], []]);
    expect(stderr).toMatch(/^Installing dependencies failed\.\n {4}E\w+: .*\.cache/);
    const byHand = repository('production', { ...files, 'package-lock.json': LIBRARY });
    const ended = await byHand.launch('run.mjs', BACKUP, 'list');
    expect(ended).toMatchObject({ code: 0, stderr: '', notes: ['backup list'], calls: [] });
  });

  const UNREACHABLE = /^Installing dependencies failed[^]*npm error code ENOTFOUND[^]*npm cannot reach its registry/;
  it.each<[string, string, RegExp]>([
    ['reports in plain words why it failed and what to do', 'npm-fails', UNREACHABLE],
    ['is checked after npm reports success', 'npm-lies', /installed everything, but node_modules is missing/],
  ])('%s, and is repeated the next time', async (_what, file, expected) => {
    const { remove, launch, runUntilUp } = repository(undefined, { [file]: 'code ENOTFOUND' });
    const { code, stderr, notes } = await launch('test.mjs');
    expect([code, stderr, notes]).toEqual([1, expect.stringMatching(expected), []]);
    remove(file);
    expect((await runUntilUp('test.mjs')).calls).toHaveLength(2);
  });

  it.each([
    ['the lock of a start that was killed', () => String(spawnSync(process.execPath, ['-e', '']).pid)],
    ['an empty lock file, as a full disk leaves one', () => ''],
  ])('is not prevented by %s', async (_what, content) => {
    const lock = '.cache/install.lock';
    const { path, has, runUntilUp } = repository(undefined, { [lock]: content() });
    const anHourAgo = Date.now() / 1_000 - 3_600;
    utimesSync(join(path, lock), anHourAgo, anHourAgo);
    await runUntilUp('start.mjs');
    expect(has(lock)).toBe(false);
  });

  it('ends npm when the command is signalled to end', async () => {
    const { lines, runUntilHeld } = repository();
    const { child, ended } = await runUntilHeld('test.mjs');
    child.kill('SIGTERM');
    expect(await ended).toMatchObject({ code: 143, stderr: 'Installing dependencies was interrupted.\n', notes: [] });
    expect(() => process.kill(Number(lines('npm-pids')[0]), 0)).toThrow('ESRCH');
  });

  it('does not start while the npm of a killed start still runs, and uses its result', async () => {
    const { remove, has, lines, launch, runUntilHeld, runUntilUp } = repository();
    (await runUntilHeld('test.mjs')).child.kill('SIGKILL');
    expect((await launch('test.mjs')).stderr).toContain(`(process ${lines('npm-pids')[0]})`);
    remove('npm-holds');
    await eventually(() => expect(has(LIST)).toBe(true));
    expect((await runUntilUp('test.mjs')).calls).toHaveLength(1);
  });

  it('starts from scratch after an installation whose npm was killed', async () => {
    const { write, remove, has, lines, runUntilHeld, runUntilUp } = repository();
    const { ended } = await runUntilHeld('test.mjs');
    write('node_modules/half/package.json', '{}');
    process.kill(Number(lines('npm-pids')[0]), 'SIGKILL');
    expect(await ended).toMatchObject({ code: 1, stderr: expect.stringContaining('npm was killed') });
    remove('npm-holds');
    expect((await runUntilUp('test.mjs')).calls).toHaveLength(2);
    expect(has('node_modules/half')).toBe(false);
  });
});

it('runs a tool in any folder', async () => {
  const { path, launch } = repository('all', { 'tools/tool.mjs': noting('process.argv[2]') });
  const elsewhere = repository(undefined, { 'tool.mjs': noting('process.argv[2]') });
  expect((await launch('run.mjs', join(elsewhere.path, 'tool.mjs'), 'one')).notes).toEqual(['one']);
  expect(await launch('run.mjs', join(path, 'tools/tool.mjs'), 'two')).toMatchObject({ code: 0, notes: ['two'] });
});

it('passes SIGHUP on to a tool, because a gateway then reloads its graph', async () => {
  const { run, lines } = repository('all', { 'tools/tool.ts': FAKE_MAIN.replace("'SIGINT'", "'SIGHUP'") });
  const { child, ended } = run('run.mjs', 'tools/tool.ts');
  await eventually(() => expect(lines('notes')).toEqual(['up']));
  child.kill('SIGHUP');
  expect(await ended).toMatchObject({ code: 7, notes: ['up', 'SIGINT'] });
});

describe('a running command', () => {
  it('gets its arguments and each signal once, and determines the exit code', async () => {
    const { run, lines } = repository('all');
    const { child, ended } = run('test.mjs', '--long', 'some/path');
    await eventually(() => expect(lines('notes')).toEqual(['up --long some/path']));
    child.kill('SIGINT');
    expect(await ended).toMatchObject({ code: 7, notes: ['up --long some/path', 'SIGINT'] });
  });

  // npm with bash as its shell repeats the terminal's signal; with others, the shell and npm end before the platform has stopped.
  it.each([
    ['SIGINT', 'its npm repeats the signal and ends'],
    ['SIGTERM', 'its npm was killed'],
  ] as const)('gets one %s only, however long it takes to stop, if %s', async (signal, _why) => {
    const slow = `
      import { appendFileSync } from 'node:fs';
      const note = (line: string) => appendFileSync('notes', line + '\\n');
      for (const signal of ['SIGINT', 'SIGTERM'])
        process.on(signal, () => { note(signal); setTimeout(() => { note('stopped'); process.exit(); }, 1_500); });
      setInterval(() => undefined, 1_000);
      note(String(process.ppid));`;
    const { path, lines } = repository('all', { [TEST_MAIN]: slow });
    const command = '"$@"; exit'; // a shell that waits, as npm does
    const args = ['-c', command, 'npm', process.execPath, join(path, 'scripts/test.mjs')];
    const npm = spawn('sh', args, { cwd: path, env: { ...process.env, npm_lifecycle_event: 'test' }, stdio: 'ignore' });
    atEnd(() => npm.kill()); // if the test fails
    await eventually(() => expect(lines('notes')).toHaveLength(1));
    const launcher = Number(lines('notes')[0]);
    if (signal === 'SIGINT') {
      process.kill(launcher, signal);
      await sleep(200);
      process.kill(launcher, signal);
      await eventually(() => expect(lines('notes')).toHaveLength(2));
    }
    npm.kill('SIGKILL');
    await eventually(() => expect(lines('notes')).toContain('stopped'));
    expect(lines('notes').slice(1)).toEqual([signal, 'stopped']);
  });

  it('notices that its launcher was killed', async () => {
    const { run, lines } = repository('production');
    const { child } = run('start.mjs');
    await eventually(() => expect(lines('notes')).toEqual(['up']));
    child.kill('SIGKILL');
    await eventually(() => expect(lines('notes')).toEqual(['up', 'disconnect']));
  });
});
