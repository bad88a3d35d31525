import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { differences, recordSurroundings } from './left-behind.ts';

const run = promisify(execFile);
const ROOT = join(import.meta.dirname, '../..');

interface JestResult {
  testResults: { name: string; status: string; message: string }[];
}

describe('test files in one process', () => {
  let ran: Map<string, { status: string; message: string }>;
  beforeAll(async () => {
    const config = {
      rootDir: join(import.meta.dirname, 'fixtures'),
      testMatch: ['**/*.sample.ts'],
      runtime: join(import.meta.dirname, 'runtime.mjs'),
      testEnvironment: join(import.meta.dirname, 'environment.mjs'),
      testSequencer: join(import.meta.dirname, 'fixtures/by-name.mjs'),
      transform: {},
    };
    // One of the tests leaves something open, which would keep this process alive.
    const jest = [
      '--disable-warning=ExperimentalWarning',
      'node_modules/jest/bin/jest.js',
      '--runInBand',
      '--json',
      '--forceExit',
    ];
    const { stdout } = await run(process.execPath, [...jest, '--config', JSON.stringify(config)], { cwd: ROOT }).catch(
      (error: { stdout: string }) => error, // some of the tests fail
    );
    const { testResults } = JSON.parse(stdout) as JestResult; // Jest's own format
    ran = new Map(testResults.map(({ name, ...result }) => [name.split('/').at(-1) ?? '', result]));
  });

  it.each(['first', 'second'])('have modules of their own (%s)', (name) => {
    expect(ran.get(`${name}.sample.ts`)).toMatchObject({ status: 'passed', message: '' });
  });

  it('do not see the timers and spies of others', () => {
    expect(ran.get('takes-back.sample.ts')?.status).toBe('passed');
  });

  it('clean up at the end of each test, and of the file, what they registered for that', () => {
    expect(ran.get('cleans-up.sample.ts')).toMatchObject({ status: 'passed', message: '' });
  });

  it('fail when they change what others see', () => {
    const { status, message } = ran.get('leaves.sample.ts') ?? {};
    expect(status).toBe('failed');
    expect(message).toContain("Changed are: Math.random, process.env.LEFT, process.listenerCount('SIGHUP').");
  });

  it('fail when they leave something open, and not while that is closing', () => {
    const { status, message } = ran.get('leaves-open.sample.ts') ?? {};
    expect(status).toBe('failed');
    expect(message).toContain('must close what it opened. Open are: 1 TCPServerWrap.');
    expect(ran.get('closes-late.sample.ts')).toMatchObject({ status: 'passed', message: '' });
  });

  it('that fail midway report where, not what they left open because of it, and no later one is blamed for it', () => {
    const { status, message } = ran.get('that-fails-midway.sample.ts') ?? {};
    expect(status).toBe('failed');
    expect(message).toContain('It fails midway.');
    expect(ran.get('the-one-after.sample.ts')).toMatchObject({ status: 'passed', message: '' });
  });

  it('that break report how', () => {
    expect(ran.get('breaks.sample.ts')?.message).toContain('It breaks.');
  });
});

describe('what a file leaves behind', () => {
  const globals: Record<string, unknown> = globalThis as never;
  const { cwd, prototype } = { cwd: process.cwd(), prototype: Array.prototype as unknown as Record<string, unknown> };

  it.each<[what: string, change: () => void, undo: () => void]>([
    ['globalThis.left', () => (globals.left = 1), () => delete globals.left],
    ['Array.prototype.left', () => (prototype.left = 1), () => delete prototype.left],
    ['process.cwd()', () => process.chdir('/'), () => process.chdir(cwd)],
  ])('is found: %s', (what, change, undo) => {
    const before = recordSurroundings();
    expect(differences(before, recordSurroundings())).toEqual([]);
    change();
    const after = recordSurroundings();
    undo();
    expect(differences(before, after)).toEqual([what]);
  });
});
