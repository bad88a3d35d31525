import { eventually } from '@taskmesh/testing';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { createBackup } from '../src/index.ts';
import {
  accountsDump,
  createBackupFixture,
  createRecordingLog,
  ownArchive,
  tasksDump,
  type BackupFixture,
} from './support/backup-fixture.ts';

const PROCESS = fileURLToPath(new URL('./support/archive-process.ts', import.meta.url));
/** When to kill, as shares of the time that an undisturbed restore takes; the swaps are near its end. */
const MOMENTS = [0.1, 0.35, 0.6, 0.75, 0.85, 0.93, 0.98];

let fixture: BackupFixture;
beforeAll(async () => {
  fixture = await createBackupFixture('crash');
  const titles = Array.from({ length: 500 }, (_, index) => `restored ${index}`);
  await fixture.archive('own.tar.gz', ownArchive({ tasks: tasksDump(titles), auth: accountsDump(['restored@x']) }));
});
afterAll(() => fixture.close());

/** Runs a restore in a process of its own, killed after `killAfterMs`; says how long it ran. */
async function runRestore(killAfterMs?: number): Promise<number> {
  const query = 'mutation { restoreBackup(file: "own.tar.gz") { outcome } }';
  const child = spawn(process.execPath, [PROCESS, JSON.stringify({ config: fixture.config, query })], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exit = once(child, 'exit');
  await once(child.stdout, 'data');
  const begin = performance.now();
  if (killAfterMs !== undefined) setTimeout(() => child.kill('SIGKILL'), killAfterMs);
  child.stdout.resume();
  await exit;
  return performance.now() - begin;
}

describe('a backup service that is killed during a restore', () => {
  it('leaves the old stores or the new ones, and its next start leaves nothing else', async () => {
    const wholeMs = await runRestore();
    const outcomes: string[] = [];
    for (const moment of MOMENTS) {
      await fixture.tasks.query(`truncate tasks; insert into tasks values (gen_random_uuid(), 'living')`);
      await fixture.auth.query(`truncate accounts cascade; insert into accounts values (1, 'living@x')`);
      await runRestore(wholeMs * moment);
      // Even before anybody cleans up, both stores are there and take connections.
      await fixture.tasks.query('select 1');
      await fixture.auth.query('select 1');
      const { log } = createRecordingLog();
      const next = await createBackup(fixture.config, {
        clock: { now: () => Date.now() },
        owners: fixture.owners,
        log,
      });
      await next.start();
      await eventually(async () => expect(await fixture.leftovers()).toEqual([]));
      await next.stop();
      const tasks = await fixture.tasks.query('select count(*)::int as n, min(title) as first from tasks');
      const accounts = await fixture.auth.query('select email from accounts');
      const isNew = tasks[0]?.n === 500;
      expect(tasks).toEqual([isNew ? { n: 500, first: 'restored 0' } : { n: 1, first: 'living' }]);
      expect(accounts).toEqual([{ email: isNew ? 'restored@x' : 'living@x' }]);
      outcomes.push(isNew ? 'new' : 'old');
    }
    expect(outcomes[0]).toBe('old');
    expect(await fixture.own.query('select 1 from restores where ended_at is null')).toEqual([]);
  }, 240_000);
});
