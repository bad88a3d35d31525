import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runScript } from '../testing/run-script.ts';
import { temporaryDir } from '../testing/temporary-dir.ts';
import { untilReady } from './child-process.ts';
import { lockDataDir, endNotedProcesses, filesBeside, killNotedProcesses } from './pid-lock.ts';
import { endProcesses, isAlive } from './process-table.ts';

const dir = temporaryDir('lock');
afterAll(dir.remove);

const SLEEPER = { command: process.execPath, args: ['-e', 'setInterval(() => undefined, 1_000)'] };
const LADDER = [['SIGTERM', 5_000]] as const;

const take = (name: string, lines: string[] = []) =>
  lockDataDir({ dataDir: join(dir.path, name), ladder: LADDER, log: (line) => lines.push(line) });

/** A process whose parent was killed. */
async function orphan(name: string): Promise<number> {
  const parent = runScript(`
    import { lockDataDir } from '$src/processes/pid-lock.ts';
    const lock = await lockDataDir({
      dataDir: ${JSON.stringify(join(dir.path, name))},
      ladder: [['SIGTERM', 5_000]],
      log: () => undefined,
    });
    const child = await lock.start(${JSON.stringify(SLEEPER)});
    console.log(child.pid);
    setInterval(() => undefined, 1_000);
  `);
  const pid = Number(await parent.nextLine());
  await parent.killAndWait();
  expect(isAlive(pid)).toBe(true);
  return pid;
}

describe('a data directory', () => {
  it('belongs to one owner until its process has ended', async () => {
    const child = await (await take('one')).start(SLEEPER);
    await expect(take('one')).rejects.toThrow(/in use by another instance/);
    expect(statSync(child.logFile).mode & 0o777).toBe(0o600);
    await child.stop();
    expect(await child.exited).toEqual({ code: null, signal: 'SIGTERM' });
    const next = await take('one');
    next.release();
    expect(existsSync(filesBeside(join(dir.path, 'one')).pidFile)).toBe(false);
  });

  it('is freed from the process of a parent that was killed', async () => {
    const pid = await orphan('orphaned');
    const lines: string[] = [];
    const next = await take('orphaned', lines);
    next.release();
    expect(isAlive(pid)).toBe(false);
    expect(lines).toEqual([`Ending orphaned (process ${pid}), left over from an earlier run.`]);
  });

  it('does not take a stranger for its process when the id was given out again', async () => {
    const child = await (await take('stranger')).start(SLEEPER);
    const { pidFile } = filesBeside(join(dir.path, 'stranger'));
    const earlier = join(dir.path, 'elsewhere');
    const stale = { ...JSON.parse(readFileSync(pidFile, 'utf8')), identity: 'another boot/1' };
    const lock = await take('elsewhere');
    lock.release();
    writeFileSync(filesBeside(earlier).pidFile, JSON.stringify(stale));
    (await take('elsewhere')).release();
    expect(isAlive(child.pid)).toBe(true);
    await child.stop();
  });
});

describe('noted processes', () => {
  it('are ended all together', async () => {
    const pids = [await orphan('first'), await orphan('second')];
    const ended: string[] = [];
    await endNotedProcesses(dir.path, ({ name }) => ended.push(name));
    expect(pids.filter(isAlive)).toEqual([]);
    expect(ended.sort()).toEqual(['first', 'second']);
  });

  it('can be killed without waiting', async () => {
    const pid = await orphan('third');
    killNotedProcesses(dir.path);
    expect(await endProcesses([pid], [])).toBe(false); // no signal of ours: it is only looked at
    while (isAlive(pid)) await new Promise((resolve) => setTimeout(resolve, 10));
  });
});

describe('a child', () => {
  it('that ends before it is ready is reported with its last words', async () => {
    const talker = { command: process.execPath, args: ['-e', 'console.error("no such thing"); process.exit(3)'] };
    const child = await (await take('talker')).start(talker);
    const waiting = untilReady(child, { name: 'The talker', ready: () => Promise.resolve(false), timeoutMs: 10_000 });
    await expect(waiting).rejects.toThrow(/The talker ended \(exit code 3\) before it was ready.\n {4}no such thing/);
  });

  it('that is not ready in time is stopped', async () => {
    const child = await (await take('slow')).start(SLEEPER);
    const waiting = untilReady(child, { name: 'The sleeper', ready: () => Promise.resolve(false), timeoutMs: 200 });
    await expect(waiting).rejects.toThrow('The sleeper was not ready after 0.2 s.');
    expect(isAlive(child.pid)).toBe(false);
  });

  it('whose program is missing is reported by name', async () => {
    const missing = await take('missing');
    await expect(missing.start({ command: '/nowhere/program', args: [] })).rejects.toThrow(
      'Cannot run /nowhere/program',
    );
    missing.release();
  });
});
