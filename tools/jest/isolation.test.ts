import { spawnSync } from 'node:child_process';
import { basename, join } from 'node:path';
import { differences, recordSurroundings } from './left-behind.ts';

const ROOT = join(import.meta.dirname, '../..');

describe('test files in one process', () => {
  /** Jest's results by the names of the files. */
  let ran: Map<string, object>;
  beforeAll(() => {
    const config = {
      rootDir: join(import.meta.dirname, 'fixtures'),
      testMatch: ['**/*.sample.ts'],
      runtime: join(import.meta.dirname, 'runtime.mjs'),
      testEnvironment: join(import.meta.dirname, 'environment.mjs'),
      testSequencer: join(import.meta.dirname, 'fixtures/by-name.mjs'),
      transform: {},
    };
    // One of the tests leaves something open, which would keep this process alive.
    const options = ['--runInBand', '--json', '--forceExit'];
    const jest = ['--disable-warning=ExperimentalWarning', 'node_modules/jest/bin/jest.js', ...options];
    const { stdout } = spawnSync(process.execPath, [...jest, '--config', JSON.stringify(config)], {
      cwd: ROOT,
      encoding: 'utf8',
    });
    const results: { name: string }[] = JSON.parse(stdout).testResults;
    ran = new Map(results.map((result) => [basename(result.name), result]));
  });

  it.each([
    ['have modules of their own', 'first'],
    ['have modules of their own', 'second'],
    ['do not see the timers and spies of others', 'takes-back'],
    ['clean up at the end of each test, and of the file, what they registered for that', 'cleans-up'],
    ['may leave what is closing', 'closes-late'],
    ['are not blamed for what a failed one left open', 'the-one-after'],
  ])('%s: %s passes', (_what, name) => {
    expect(ran.get(`${name}.sample.ts`)).toMatchObject({ status: 'passed', message: '' });
  });

  it.each([
    ['leaves', "Changed are: Math.random, process.env.LEFT, process.listenerCount('SIGHUP')."],
    ['leaves-open', 'must close what it opened. Open are: 1 TCPServerWrap.'],
    ['that-fails-midway', 'It fails midway.'], // not what it left open because of it
    ['breaks', 'It breaks.'],
  ])('say why they fail: %s', (name, message) => {
    expect(ran.get(`${name}.sample.ts`)).toMatchObject({ status: 'failed', message: expect.stringContaining(message) });
  });
});

const globals: Record<string, unknown> = globalThis as never;
const { cwd, prototype } = { cwd: process.cwd(), prototype: Array.prototype as unknown as Record<string, unknown> };

it.each<[what: string, change: () => void, undo: () => void]>([
  ['globalThis.left', () => (globals.left = 1), () => delete globals.left],
  ['Array.prototype.left', () => (prototype.left = 1), () => delete prototype.left],
  ['process.cwd()', () => process.chdir('/'), () => process.chdir(cwd)],
])('what a file leaves behind is found: %s', (what, change, undo) => {
  const before = recordSurroundings();
  expect(differences(before, recordSurroundings())).toEqual([]);
  change();
  const after = recordSurroundings();
  undo();
  expect(differences(before, after)).toEqual([what]);
});
