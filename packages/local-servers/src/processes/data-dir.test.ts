import { eventually } from '@taskmesh/testing';
import { mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runScript, temporaryDir } from '../testing.ts';
import { endRecordedProcesses, filesFor, killRecordedProcesses, runInDataDir, type RunOptions } from './data-dir.ts';
import { acquireLock } from './directory-lock.ts';
import { endProcesses, isAlive, processesWorkingIn } from './process-table.ts';

const dir = temporaryDir('data-dir');

const script = (code: string) => async () => ({ command: process.execPath, args: ['-e', code] });
const sleeper = {
  ladder: [['SIGTERM', 5_000]],
  prepare: script('setInterval(() => undefined, 1_000)'),
  ready: async () => true,
} as const;

const run = (
  name: string,
  { signal, ...options }: Partial<RunOptions<boolean>> & { signal?: AbortSignal } = {},
  lines: string[] = [],
) => {
  const reports = { log: (line: string) => lines.push(line), signal };
  return runInDataDir({ name, dataDir: join(dir, name), ...sleeper, ...options }, reports);
};

/** A process whose parent was killed. */
async function orphan(name: string): Promise<number> {
  const parent = runScript(`
    import { runInDataDir } from '$src/processes/data-dir.ts';
    const sleeper = {
      name: 'sleeper',
      dataDir: ${JSON.stringify(join(dir, name))},
      ladder: [['SIGTERM', 5_000]],
      prepare: async () => ({ command: process.execPath, args: ['-e', 'setInterval(() => undefined, 1_000)'] }),
      ready: async () => true,
    };
    const { pid } = await runInDataDir(sleeper, { log: () => undefined });
    console.log(pid);
    setInterval(() => undefined, 1_000);
  `);
  const pid = Number(await parent.nextLine());
  await parent.killAndWait();
  expect(isAlive(pid)).toBe(true);
  return pid;
}

it('does not mistake another process with a reused id for its own', async () => {
  const stranger = await run('stranger');
  expect(statSync(stranger.logFile).mode & 0o777).toBe(0o600);
  const { pidFile } = filesFor(join(dir, 'stranger'));
  const stale = { ...JSON.parse(readFileSync(pidFile, 'utf8')), identity: 'another boot/1' };
  writeFileSync(filesFor(join(dir, 'elsewhere')).pidFile, JSON.stringify(stale));
  const lines: string[] = [];
  await (await run('elsewhere', {}, lines)).stop();
  expect([lines, isAlive(stranger.pid)]).toEqual([[], true]);
  await stranger.stop();
});

it('waits longer for a lock whose holder has announced that it is stopping', async () => {
  const file = join(dir, 'stopping.lock');
  const lock = await acquireLock(file, 'In use');
  lock.announceRelease();
  const next = acquireLock(file, 'In use');
  setTimeout(() => lock.release(), 2_000); // longer than the wait for a holder that is not stopping
  (await next).release();
});

it('locks and unlocks on a full disk, where its holder cannot be written down', async () => {
  const file = join(dir, 'full.lock');
  symlinkSync('/dev/full', `${file}-holder`);
  const lock = await acquireLock(file, 'In use');
  expect(lock.announceRelease).not.toThrow();
  lock.release();
  (await acquireLock(file, 'In use')).release();
});

it('recorded processes are all ended, or killed without waiting', async () => {
  const pids = [await orphan('first'), await orphan('second')];
  const lines: string[] = [];
  await endRecordedProcesses(dir, (line) => lines.push(line));
  expect(pids.filter(isAlive)).toEqual([]);
  expect(lines.map((line) => line.split(' ')[1]).sort()).toEqual(['first', 'second']);
  const pid = await orphan('third');
  killRecordedProcesses(dir);
  expect(await endProcesses([pid], [])).toBe(false); // sends no signal, only checks
  await eventually(() => expect(isAlive(pid)).toBe(false));
});

describe('a child process', () => {
  it('is reported with its last output if it ends before it is ready', async () => {
    const prepare = script('console.error("no such thing"); process.exit(3)');
    const running = run('talker', { prepare, ready: async () => false, timeoutMs: 10_000 });
    await expect(running).rejects.toThrow(/talker ended \(exit code 3\) before it was ready.\n {4}no such thing/);
  });

  it.each<[string, () => Partial<RunOptions<boolean>> & { signal?: AbortSignal }, string]>([
    ['not ready in time', () => ({ ready: async () => false, timeoutMs: 200 }), 'was not ready after 0.2 s.'],
    ['mute', () => ({ timeoutMs: 200 }), 'was not ready after 0.2 s.'],
    ['mute at a signal', () => ({ signal: AbortSignal.timeout(200) }), 'was stopped before it was ready.'],
    ['ended', () => ({ prepare: script('process.exit(3)') }), 'ended (exit code 3) before it was ready.'],
  ])('is stopped and reported if it is %s', async (what, options, message) => {
    let pid = 0;
    const ready = () => {
      pid = JSON.parse(readFileSync(filesFor(join(dir, what)).pidFile, 'utf8')).pid;
      return new Promise<boolean>(() => undefined);
    };
    await expect(run(what, { ready, ...options() })).rejects.toThrow(`${what} ${message}`);
    expect(pid > 0 && isAlive(pid)).toBe(false);
  });

  it('is stopped if it cannot be recorded', async () => {
    const { pidFile } = filesFor(join(dir, 'unnoted'));
    const prepare = async () => {
      mkdirSync(pidFile, { recursive: true });
      return { command: 'sleep', args: ['60'], cwd: pidFile };
    };
    await expect(run('unnoted', { prepare })).rejects.toThrow(/EISDIR|ENOTEMPTY/);
    expect(processesWorkingIn(pidFile, 'sleep')).toEqual([]);
  });

  it('is reported by name if its program is missing', async () => {
    const prepare = async () => ({ command: '/nowhere/program', args: [] });
    await expect(run('missing', { prepare })).rejects.toThrow('Cannot run /nowhere/program');
    await (await run('missing')).stop(); // the directory is free again
  });
});
