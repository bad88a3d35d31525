import { mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runScript, temporaryDir } from '../testing.ts';
import { endNotedProcesses, filesFor, killNotedProcesses, runInDataDir, type RunOptions } from './data-dir.ts';
import { acquireLock } from './directory-lock.ts';
import { endProcesses, isAlive, processesWorkingIn } from './process-table.ts';

const dir = temporaryDir('data-dir');
afterAll(dir.remove);

const sleeper = {
  ladder: [['SIGTERM', 5_000]],
  prepare: async () => ({ command: process.execPath, args: ['-e', 'setInterval(() => undefined, 1_000)'] }),
  ready: async () => true,
} as const;

const run = (
  name: string,
  { signal, ...options }: Partial<RunOptions<boolean>> & { signal?: AbortSignal } = {},
  lines: string[] = [],
) => {
  const reports = { log: (line: string) => lines.push(line), signal };
  return runInDataDir({ name, dataDir: join(dir.path, name), ...sleeper, ...options }, reports);
};

/** A process whose parent was killed. */
async function orphan(name: string): Promise<number> {
  const parent = runScript(`
    import { runInDataDir } from '$src/processes/data-dir.ts';
    const sleeper = {
      name: 'sleeper',
      dataDir: ${JSON.stringify(join(dir.path, name))},
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

describe('a data directory', () => {
  it('does not mistake another process with a reused id for its own', async () => {
    const stranger = await run('stranger');
    expect(statSync(stranger.logFile).mode & 0o777).toBe(0o600);
    const { pidFile } = filesFor(join(dir.path, 'stranger'));
    const stale = { ...JSON.parse(readFileSync(pidFile, 'utf8')), identity: 'another boot/1' };
    writeFileSync(filesFor(join(dir.path, 'elsewhere')).pidFile, JSON.stringify(stale));
    const lines: string[] = [];
    await (await run('elsewhere', {}, lines)).stop();
    expect(lines).toEqual([]);
    expect(isAlive(stranger.pid)).toBe(true);
    await stranger.stop();
  });
});

it('waits longer for a lock whose holder has announced that it is stopping', async () => {
  const file = join(dir.path, 'stopping.lock');
  const lock = await acquireLock(file, 'In use');
  lock.announceRelease();
  const next = acquireLock(file, 'In use');
  setTimeout(() => lock.release(), 2_000); // longer than the wait for a holder that is not stopping
  (await next).release();
});

it('locks and unlocks on a full disk, where its holder cannot be written down', async () => {
  const file = join(dir.path, 'full.lock');
  symlinkSync('/dev/full', `${file}-holder`);
  const lock = await acquireLock(file, 'In use');
  expect(lock.announceRelease).not.toThrow();
  lock.release();
  (await acquireLock(file, 'In use')).release();
});

describe('recorded processes', () => {
  it('are all ended', async () => {
    const pids = [await orphan('first'), await orphan('second')];
    const lines: string[] = [];
    await endNotedProcesses(dir.path, (line) => lines.push(line));
    expect(pids.filter(isAlive)).toEqual([]);
    expect(lines.map((line) => line.split(' ')[1]).sort()).toEqual(['first', 'second']);
  });

  it('can be killed without waiting', async () => {
    const pid = await orphan('third');
    killNotedProcesses(dir.path);
    expect(await endProcesses([pid], [])).toBe(false); // sends no signal, only checks
    while (isAlive(pid)) await new Promise((resolve) => setTimeout(resolve, 10));
  });
});

describe('a child process', () => {
  it('is reported with its last output if it ends before it is ready', async () => {
    const prepare = async () => ({
      command: process.execPath,
      args: ['-e', 'console.error("no such thing"); process.exit(3)'],
    });
    const running = run('talker', { prepare, ready: async () => false, timeoutMs: 10_000 });
    await expect(running).rejects.toThrow(/talker ended \(exit code 3\) before it was ready.\n {4}no such thing/);
  });

  it('is stopped if it is not ready in time', async () => {
    const { pidFile } = filesFor(join(dir.path, 'slow'));
    let pid = 0;
    const ready = async () => {
      pid = JSON.parse(readFileSync(pidFile, 'utf8')).pid;
      return false;
    };
    await expect(run('slow', { ready, timeoutMs: 200 })).rejects.toThrow('slow was not ready after 0.2 s.');
    expect(isAlive(pid)).toBe(false);
  });

  it.each([
    ['after the timeout', () => ({ timeoutMs: 200 }), 'mute was not ready after 0.2 s.'],
    ['on a signal', () => ({ signal: AbortSignal.timeout(200) }), 'mute was stopped before it was ready.'],
  ])('is stopped %s if its readiness check never completes', async (_when, options, message) => {
    const ready = () => new Promise<boolean>(() => undefined);
    await expect(run('mute', { ready, ...options() })).rejects.toThrow(message);
  });

  it('is reported if it ends during its readiness check', async () => {
    const prepare = async () => ({ command: process.execPath, args: ['-e', 'process.exit(3)'] });
    const running = run('hasty', { prepare, ready: () => new Promise<boolean>(() => undefined) });
    await expect(running).rejects.toThrow('hasty ended (exit code 3) before it was ready.');
  });

  it('is stopped if it cannot be recorded', async () => {
    const { pidFile } = filesFor(join(dir.path, 'unnoted'));
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
