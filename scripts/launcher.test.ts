import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { eventually } from '@taskmesh/testing';

const SCRIPTS = dirname(fileURLToPath(import.meta.url));
const PLAIN = ['nearest-name.mjs'];

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

const repositories: string[] = [];
const children: ChildProcess[] = [];
afterAll(() => {
  for (const child of children) child.kill(); // children of failed tests
  for (const path of repositories) rmSync(path, { recursive: true, force: true });
});

/** Creates a repository with our scripts, nothing installed, and fakes of the platform and npm. */
function repository(installed?: 'production' | 'all') {
  const path = mkdtempSync(join(tmpdir(), 'taskmesh-launcher-'));
  repositories.push(path);
  const write = (file: string, content: string) => {
    mkdirSync(dirname(join(path, file)), { recursive: true });
    writeFileSync(join(path, file), content);
  };
  cpSync(SCRIPTS, join(path, 'scripts'), { recursive: true });
  cpSync(join(SCRIPTS, '..', '.env.example'), join(path, '.env.example'));
  for (const file of PLAIN) cpSync(join(SCRIPTS, '../libs/service/src', file), join(path, 'libs/service/src', file));
  write('package.json', '{"type":"module"}');
  write('package-lock.json', '{"packages":{"":{},"node_modules/tool":{"version":"1.0.0","dev":true}}}');
  write('deploy/all-in-one/src/main.ts', FAKE_MAIN);
  write('deploy/local/src/test-main.ts', FAKE_MAIN);
  write(
    'services/backup/cli/main.ts',
    `import { writeFileSync } from 'node:fs'; writeFileSync('notes', 'backup ' + process.argv[2]);`,
  );
  write('deploy/local/src/seed/main.ts', `import { writeFileSync } from 'node:fs'; writeFileSync('notes', 'seed');`);
  write('services/gateway/console/build/provide.mjs', FAKE_CONSOLE);
  write('npm/npm-cli.js', FAKE_NPM);
  write('npm/package.json', '{"type":"commonjs"}');
  mkdirSync(join(path, 'node_modules'));
  const lines = (file: string) =>
    existsSync(join(path, file)) ? readFileSync(join(path, file), 'utf8').trim().split('\n') : [];
  const run = (script: string, ...args: string[]) => {
    const env = { ...process.env, npm_execpath: join(path, 'npm', 'npm-cli.js'), npm_lifecycle_event: '' };
    const command = [join(path, 'scripts', script), ...args];
    const child = spawn(process.execPath, command, { cwd: path, env, stdio: ['ignore', 'pipe', 'pipe'] });
    children.push(child);
    return child;
  };
  const markInstalled = (set: 'production' | 'all') => {
    const { packages } = JSON.parse(readFileSync(join(path, 'package-lock.json'), 'utf8')) as {
      packages: Record<string, { dev?: boolean }>;
    };
    const there = Object.entries(packages).filter(([name, { dev }]) => name && (set === 'all' || !dev));
    for (const [name] of there) write(`${name}/package.json`, '{}');
    write('node_modules/.package-lock.json', JSON.stringify({ packages: Object.fromEntries(there) }));
  };
  if (installed) markInstalled(installed);
  return {
    ...{ path, write, lines, markInstalled, run },
    async runUntilUp(script: string) {
      const child = run(script);
      const ended = outcome(child);
      await eventually(() => expect(lines('notes')).toEqual(['up']));
      child.kill('SIGTERM');
      await ended;
    },
  };
}

async function outcome(child: ChildProcess & { stdout: NodeJS.ReadableStream; stderr: NodeJS.ReadableStream }) {
  const code = new Promise<number | null>((resolve) => child.once('close', resolve));
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
  return { code: await code, stdout, stderr };
}

describe('the commands', () => {
  it.each(['start.mjs', 'stack.mjs', 'test.mjs'])('print help without installing anything: %s', async (script) => {
    const { run, lines } = repository();
    const { code, stdout } = await outcome(run(script, '--help'));
    expect(code).toBe(0);
    expect(stdout).toMatch(/^npm (start|run stack|test)/);
    expect(lines('npm-calls')).toEqual([]);
  });

  it.each([
    ['start.mjs', '--fast', `Unknown option '--fast'`],
    ['stack.mjs', '--gateway', `Unknown option '--gateway'`],
    ['stack.mjs', '--gateways', `Option '--gateways <value>' argument missing`],
  ])('reject unknown arguments before installing anything: %s %s', async (script, argument, message) => {
    const { run, lines } = repository();
    const { code, stderr } = await outcome(run(script, argument));
    expect(code).toBe(2);
    expect(stderr).toContain(message);
    expect(stderr).not.toContain('    at '); // no stack trace: this is not a bug
    expect(lines('npm-calls')).toEqual([]);
  });
});

describe('the settings', () => {
  const FAKE = (read: string) => `import { writeFileSync } from 'node:fs'; writeFileSync('notes', ${read});`;
  const SETTING = "process.env.TASKMESH_URL + ' ' + process.env.PATH";

  it.each([
    ['start.mjs', 'deploy/all-in-one/src/main.ts', []],
    ['stack.mjs', 'deploy/local/src/main.ts', []],
    ['run.mjs', 'services/backup/cli/main.ts', ['services/backup/cli/main.ts', 'list']],
    ['run.mjs', 'deploy/local/src/seed/main.ts', ['deploy/local/src/seed/main.ts']],
  ])('in .env are used if the environment has none: %s', async (script, file, args) => {
    const { run, lines, write } = repository('all');
    write(file, FAKE(SETTING));
    write('.env', "TASKMESH_URL='Taskmesh <a@example.com>' # why\nPATH=/nowhere\n");
    expect((await outcome(run(script, ...args))).code).toBe(0);
    expect(lines('notes')).toEqual([`Taskmesh <a@example.com> ${process.env.PATH}`]);
  });

  it('in .env are read whatever whitespace editors and people use', async () => {
    const { run, lines, write } = repository('all');
    const names = ['PORT', 'ADMIN_PORT', 'HOST', 'LOG_LEVEL', 'MAIL_FROM', 'DATA_DIR', 'SMTP_URL'];
    write(
      'deploy/all-in-one/src/main.ts',
      FAKE(`JSON.stringify(${JSON.stringify(names)}.map((name) => process.env[name]))`),
    );
    const content = [
      '\uFEFFPORT=4100',
      'ADMIN_PORT=1',
      'HOST= ',
      'export  LOG_LEVEL=warn # why',
      '\t',
      "\tMAIL_FROM\t=\t'two",
      "lines'",
      'export\tDATA_DIR=data',
      'SMTP_URL="smtp://a#b"',
      'ADMIN_PORT=4200',
    ];
    write('.env', content.join('\r\n'));
    expect(await outcome(run('start.mjs'))).toMatchObject({ code: 0, stderr: '' });
    expect(JSON.parse(lines('notes').join(''))).toEqual([
      '4100',
      '4200',
      '',
      'warn',
      'two\nlines',
      'data',
      'smtp://a#b',
    ]);
  });

  it.each([
    ['# settings\nPORT=4000\nBACKUP_TOKEN: a-secret\n', 'line 3: write BACKUP_TOKEN=…'],
    ['MAIL_FROM="two\nlines"\nsome secret words\nPORT=5304\n', 'line 3: is not NAME=value\n'],
    ['BACKUP_TOKEN=a#secret\n', 'line 1: # begins a comment: put the value in quotes'],
  ])('prevent a start if a line of .env is invalid, without showing values: %j', async (content, said) => {
    const { run, lines, write } = repository('all');
    write('.env', content);
    const { code, stderr } = await outcome(run('start.mjs'));
    expect([code, stderr]).toEqual([1, expect.stringContaining(said)]);
    expect(stderr).not.toMatch(/secret|^ +at /m);
    expect(lines('notes')).toEqual([]);
  });

  it('in .env are reported if their names are unknown, without their values', async () => {
    const { run, lines, write } = repository('all');
    write(
      'deploy/all-in-one/src/main.ts',
      FAKE('JSON.stringify([process.env.PROT ?? null, process.env.FOO, process.env.PORT])'),
    );
    const wrong = ['PROT=5304', 'FOO=hidden', 'ACCESS_TOKEN_TTL=100', 'SMTP_HOST=hidden', 'DATABASE_PERFIX=hidden'];
    const ours = ['PORT=4100', 'PGSSLMODE=require', 'export LOG_LEVEL=info', 'HTTPS_PROXY=http://127.0.0.1:1'];
    write('.env', [...ours, '# RATE_LIMIT=1', ...wrong].join('\n'));
    const { code, stderr } = await outcome(run('start.mjs'));
    expect(code).toBe(0);
    expect(stderr.trim().split('\n')).toEqual([
      '.env, line 6: PROT is not a setting and is ignored: is PORT meant?',
      '.env, line 7: FOO is not a setting and is ignored: .env.example lists all settings.',
      '.env, line 8: ACCESS_TOKEN_TTL is not a setting and is ignored: is ACCESS_TOKEN_TTL_S meant?',
      '.env, line 9: SMTP_HOST is not a setting and is ignored: is SMTP_URL meant?',
      '.env, line 10: DATABASE_PERFIX is not a setting and is ignored: is DATABASE_PREFIX meant?',
    ]);
    expect(lines('notes')).toEqual(['[null,"hidden","4100"]']); // a name that the program would report again is not passed on
  });

  it('in .env are not shown if they may be secrets that slipped into a separate line', async () => {
    const { run, write } = repository('all');
    write('deploy/all-in-one/src/main.ts', FAKE("''"));
    write('.env', 'BACKUP_TOKEN=\nYSBzZWNyZXQgb2YgMTYhIQ==\nport=1');
    expect((await outcome(run('start.mjs'))).stderr.trim().split('\n')).toEqual([
      '.env, line 2: its name is not a setting and is ignored: .env.example lists all settings.',
      '.env, line 3: port is not a setting and is ignored: .env.example lists all settings.',
    ]);
  });

  it('are reported in plain words if .env cannot be read', async () => {
    const { path, run } = repository('all');
    mkdirSync(join(path, '.env'));
    const { code, stderr } = await outcome(run('start.mjs'));
    expect(code).toBe(1);
    expect(stderr).toMatch(/^The settings in .*\.env cannot be read \(.+\)\. /);
    expect(stderr).not.toContain('    at ');
  });

  it('in .env are ignored by the tests', async () => {
    const { run, lines, write } = repository('all');
    write('deploy/local/src/test-main.ts', FAKE(SETTING));
    write('.env', 'TASKMESH_URL=yes');
    await outcome(run('test.mjs'));
    expect(lines('notes')[0]).toMatch(/^undefined /);
  });
});

describe('the installation', () => {
  it('installs only production dependencies, once: another start ends meanwhile, with the reason', async () => {
    const { path, run, lines, write } = repository();
    write('npm-holds', '');
    const first = run('start.mjs');
    const ended = outcome(first);
    await eventually(() => expect(lines('npm-calls')).toHaveLength(1));
    const { code, stderr } = await outcome(run('start.mjs'));
    expect(code).toBe(1);
    expect(stderr).toMatch(
      /^Another start installs dependencies here \(process \d+\)\. Start again when it has finished, or remove .*lock/,
    );
    rmSync(join(path, 'npm-holds'));
    await eventually(() => expect(lines('notes')).toEqual(['up']));
    first.kill('SIGTERM');
    await ended;
    expect(lines('console-calls')).toEqual(['provided']);
    expect(lines('npm-calls')).toEqual([expect.stringMatching(/^install .*--omit=dev/)]);
  });

  it.each([
    ['backup', ['services/backup/cli/main.ts', 'list'], 'backup list'],
    ['seed', ['deploy/local/src/seed/main.ts'], 'seed'],
  ])('is not changed by npm run %s while the product runs', async (_name, args, note) => {
    const { run, lines } = repository('production');
    const { code } = await outcome(run('run.mjs', ...args));
    expect([code, lines('notes'), lines('npm-calls')]).toEqual([0, [note], []]);
  });

  it('installs for a backup command only what it needs: from the lock file, independent of npm’s settings', async () => {
    const { run, lines } = repository();
    expect((await outcome(run('run.mjs', 'services/backup/cli/main.ts', 'list'))).code).toBe(0);
    expect(lines('npm-calls')).toEqual([expect.stringMatching(/^install .*--omit=dev/)]);
    for (const option of ['--package-lock', '--no-legacy-peer-deps', '--include=peer', '--include=optional'])
      expect(lines('npm-calls')[0]).toContain(` ${option} `);
  });

  it('keeps the developers’ tools', async () => {
    const { lines, markInstalled, write, runUntilUp } = repository();
    const lockWith = (version: string) =>
      `{"packages":{"":{},"node_modules/library":{"version":"${version}"},"node_modules/tool":{"version":"1.0.0","dev":true}}}`;
    write('package-lock.json', lockWith('1.0.0'));
    markInstalled('all');
    write('package-lock.json', lockWith('2.0.0')); // as after a pull
    await runUntilUp('start.mjs');
    expect(lines('npm-calls')).toHaveLength(1);
    expect(lines('npm-calls')[0]).toMatch(/--include=dev/);
  });

  it('recognizes dependencies that were installed by hand', async () => {
    const { lines, write, runUntilUp } = repository('production');
    write('package-lock.json', '{"packages":{"":{},"node_modules/tool":{"version":"1.1.0","dev":true}}}');
    write('node_modules/.package-lock.json', '{"packages":{"node_modules/tool":{"version":"1.1.0","dev":true}}}');
    write('node_modules/tool/package.json', '{}');
    await runUntilUp('test.mjs');
    expect(lines('npm-calls')).toEqual([]);
  });

  it('is neither needed nor recorded if npm has installed everything in a folder that is not writable', async () => {
    const { run, lines, write } = repository();
    write('package-lock.json', '{"packages":{"":{},"node_modules/tool":{"version":"1.1.0"}}}');
    write('node_modules/.package-lock.json', '{"packages":{"node_modules/tool":{"version":"1.1.0"}}}');
    write('node_modules/tool/package.json', '{}');
    write('.cache', ''); // prevents the lock, even for root
    expect(await outcome(run('run.mjs', 'services/backup/cli/main.ts', 'list'))).toMatchObject({ code: 0, stderr: '' });
    expect([lines('notes'), lines('npm-calls')]).toEqual([['backup list'], []]);
  });

  it('reports in plain words that its folder is not writable', async () => {
    const { run, lines, write } = repository();
    write('.cache', '');
    const { code, stderr } = await outcome(run('run.mjs', 'services/backup/cli/main.ts', 'list'));
    expect([code, lines('notes'), lines('npm-calls')]).toEqual([1, [], []]);
    expect(stderr).toMatch(/^Installing dependencies failed\.\n {4}E\w+: .*\.cache/);
    expect(stderr).not.toContain('    at ');
  });

  it('reports in plain words why it failed and what to do, and is repeated the next time', async () => {
    const { run, lines, write, runUntilUp } = repository();
    write('npm-fails', 'code ENOTFOUND');
    const { code, stderr } = await outcome(run('start.mjs'));
    expect(code).toBe(1);
    expect(stderr).toMatch(
      /^Installing dependencies failed[^]*npm error code ENOTFOUND[^]*npm cannot reach its registry/,
    );
    write('npm-fails', '');
    await runUntilUp('start.mjs');
    expect(lines('npm-calls')).toHaveLength(2);
  });

  it.each([
    ['the lock of a start that was killed', () => String(spawnSync(process.execPath, ['-e', '']).pid)],
    ['an empty lock file, as a full disk leaves one', () => ''],
  ])('is not prevented by %s', async (_what, content) => {
    const { write, runUntilUp } = repository();
    write('.cache/install.lock', content());
    const anHourAgo = Date.now() / 1_000 - 3_600;
    utimesSync(join(repositories.at(-1) ?? '', '.cache', 'install.lock'), anHourAgo, anHourAgo);
    await runUntilUp('start.mjs');
    expect(existsSync(join(repositories.at(-1) ?? '', '.cache', 'install.lock'))).toBe(false);
  });

  it('ends npm when the command is signalled to end', async () => {
    const { run, lines, write } = repository();
    write('npm-holds', '');
    const child = run('test.mjs');
    const ended = outcome(child);
    await eventually(() => expect(lines('npm-calls')).toHaveLength(1));
    child.kill('SIGTERM');
    expect(await ended).toMatchObject({ code: 143, stderr: 'Installing dependencies was interrupted.\n' });
    expect(() => process.kill(Number(lines('npm-pids')[0]), 0)).toThrow('ESRCH');
    expect(lines('notes')).toEqual([]);
  });

  it('does not start while the npm of a killed start still runs, and uses its result', async () => {
    const { path, run, lines, write, runUntilUp } = repository();
    write('npm-holds', '');
    const killed = run('test.mjs');
    await eventually(() => expect(lines('npm-calls')).toHaveLength(1));
    killed.kill('SIGKILL');
    expect((await outcome(run('test.mjs'))).stderr).toContain(`(process ${lines('npm-pids')[0]})`);
    rmSync(join(path, 'npm-holds'));
    await eventually(() => expect(existsSync(join(path, 'node_modules/.package-lock.json'))).toBe(true));
    await runUntilUp('test.mjs');
    expect(lines('npm-calls')).toHaveLength(1);
  });

  it('starts from scratch after one whose npm was killed', async () => {
    const { path, run, lines, write, runUntilUp } = repository();
    write('npm-holds', '');
    const cutShort = outcome(run('test.mjs'));
    await eventually(() => expect(lines('npm-calls')).toHaveLength(1));
    write('node_modules/half/package.json', '{}');
    process.kill(Number(lines('npm-pids')[0]), 'SIGKILL');
    expect(await cutShort).toMatchObject({ code: 1, stderr: expect.stringContaining('npm was killed') });
    rmSync(join(path, 'npm-holds'));
    await runUntilUp('test.mjs');
    expect(lines('npm-calls')).toHaveLength(2);
    expect(existsSync(join(path, 'node_modules/half'))).toBe(false);
  });

  it('is checked after npm reports success', async () => {
    const { path, run, lines, write, runUntilUp } = repository();
    write('npm-lies', '');
    const { code, stderr } = await outcome(run('test.mjs'));
    expect([code, lines('notes')]).toEqual([1, []]);
    expect(stderr).toContain('installed everything, but node_modules is not there');
    rmSync(join(path, 'npm-lies'));
    await runUntilUp('test.mjs');
  });

  it('is repaired if a package is missing', async () => {
    const { path, lines, runUntilUp } = repository('all');
    rmSync(join(path, 'node_modules/tool'), { recursive: true });
    await runUntilUp('test.mjs');
    expect(lines('npm-calls')).toHaveLength(1);
  });

  it('keeps the existing packages if npm fails', async () => {
    const { path, run, write } = repository('all');
    const list = join(path, 'node_modules/.package-lock.json');
    const before = readFileSync(list, 'utf8');
    write('package-lock.json', '{"packages":{"":{},"node_modules/tool":{"version":"2.0.0","dev":true}}}');
    write('npm-fails', 'code ENOTFOUND');
    expect((await outcome(run('test.mjs'))).code).toBe(1);
    expect(readFileSync(list, 'utf8')).toBe(before);
    expect(existsSync(join(path, 'node_modules/tool/package.json'))).toBe(true);
  });
});

describe('a tool', () => {
  const NOTES = `import { writeFileSync } from 'node:fs'; writeFileSync('notes', process.argv.slice(2).join(' '));`;

  it('can be run from any place', async () => {
    const { path, run, lines, write } = repository('all');
    const elsewhere = repository();
    elsewhere.write('tool.mjs', NOTES);
    expect((await outcome(run('run.mjs', join(elsewhere.path, 'tool.mjs'), 'one'))).code).toBe(0);
    expect(lines('notes')).toEqual(['one']);
    write('tools/tool.mjs', NOTES);
    expect((await outcome(run('run.mjs', join(path, 'tools/tool.mjs'), 'two'))).code).toBe(0);
    expect(lines('notes')).toEqual(['two']);
  });

  it('that does not exist is reported before anything is installed', async () => {
    const { run, lines } = repository();
    const { code, stderr } = await outcome(run('run.mjs', 'tools/none.ts'));
    expect([code, stderr]).toEqual([2, expect.stringMatching(/^There is no file .*tools\/none\.ts\.\n$/)]);
    expect(lines('npm-calls')).toEqual([]);
  });
});

describe('a running command', () => {
  it('gets its arguments and each signal once, and determines the exit code', async () => {
    const { run, lines } = repository('all');
    const child = run('test.mjs', '--long', 'some/path');
    const ended = outcome(child);
    await eventually(() => expect(lines('notes')).toEqual(['up --long some/path']));
    child.kill('SIGINT');
    expect((await ended).code).toBe(7);
    expect(lines('notes').slice(1)).toEqual(['SIGINT']);
  });

  // npm with bash as its shell repeats the terminal's signal; with others, the shell and npm end before the platform has stopped.
  it.each([
    ['SIGINT', 'its npm repeats the signal and ends'],
    ['SIGTERM', 'its npm was killed'],
  ] as const)('gets one %s only, however long it takes to stop, if %s', async (signal, _why) => {
    const { path, lines, write } = repository('all');
    write(
      'deploy/local/src/test-main.ts',
      `
      import { appendFileSync } from 'node:fs';
      const note = (line: string) => appendFileSync('notes', line + '\\n');
      for (const signal of ['SIGINT', 'SIGTERM'])
        process.on(signal, () => { note(signal); setTimeout(() => { note('stopped'); process.exit(); }, 1_500); });
      setInterval(() => undefined, 1_000);
      note(String(process.ppid));
      `,
    );
    const command = '"$@"; exit'; // a shell that waits, as npm does
    const args = ['-c', command, 'npm', process.execPath, join(path, 'scripts/test.mjs')];
    const npm = spawn('sh', args, { cwd: path, env: { ...process.env, npm_lifecycle_event: 'test' }, stdio: 'ignore' });
    children.push(npm);
    await eventually(() => expect(lines('notes')).toHaveLength(1));
    const launcher = Number(lines('notes')[0]);
    if (signal === 'SIGINT') {
      process.kill(launcher, signal);
      await eventually(() => expect(lines('notes')).toHaveLength(2));
      process.kill(launcher, signal);
    }
    npm.kill('SIGKILL');
    await eventually(() => expect(lines('notes')).toContain('stopped'));
    expect(lines('notes').slice(1)).toEqual([signal, 'stopped']);
  });

  it('notices that its launcher was killed', async () => {
    const { run, lines } = repository('production');
    const child = run('start.mjs');
    await eventually(() => expect(lines('notes')).toEqual(['up']));
    child.kill('SIGKILL');
    await eventually(() => expect(lines('notes')).toEqual(['up', 'disconnect']));
  });
});
