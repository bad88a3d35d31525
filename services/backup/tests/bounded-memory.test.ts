import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { HARD_ARCHIVES, KEY } from './archives/hard-archives.ts';
import { createBackupFixture, type BackupFixture } from './support/backup-fixture.ts';
import { startBackupProcess, type BackupProcess } from './support/backup-process.ts';
import { privateMib } from './support/memory.ts';

/** What the service and its children may take over what it has when it is idle. */
const BOUND_MIB = 128;
const LOOK_EVERY_MS = 5;

const RESTORE = 'mutation ($file: String!) { result: restoreBackup(file: $file) { message outcome } }';
const CREATE = 'mutation { result: createBackup { file } }';

/** One of each kind; a long run (npm run test:long) tries all. */
const QUICK = /^(a small one|a manifest at its limit|a dump: (one INSERT|deep|many tables|a line of COPY).*)$/;
const ARCHIVES = HARD_ARCHIVES.filter(({ what }) => process.env.TASKMESH_LONG || QUICK.test(what));

let fixture: BackupFixture;
let backup: BackupProcess;
let idleMib: number;
beforeAll(async () => {
  fixture = await createBackupFixture('memory', { keys: [KEY] });
  await fixture.backup.stop();
  backup = await startBackupProcess(fixture.config);
  await pause(1_000); // what the start has left is collected
  idleMib = privateMib(backup.pid);
  expect(idleMib).toBeGreaterThan(0);
}, 180_000);
afterAll(async () => {
  await backup.stop();
  await fixture.close();
});

/** Does something in the service, within the bound. */
async function ask(query: string, variables: Record<string, unknown> = {}) {
  let worstMib = 0;
  const look = () => (worstMib = Math.max(worstMib, privateMib(backup.pid)));
  const timer = setInterval(look, LOOK_EVERY_MS);
  const answer = await backup.ask(query, variables).finally(() => clearInterval(timer));
  expect(worstMib - idleMib).toBeLessThan(BOUND_MIB);
  return answer?.data?.result as Record<string, unknown>;
}

describe('the memory of a service', () => {
  it.each(ARCHIVES)(
    'is bounded while it restores $what',
    async ({ suffix = '', bytes, isRestored }) => {
      const file = `hard.tar.gz${suffix}`;
      await writeFile(join(fixture.config.backupsDir, file), await bytes());
      const { outcome, message } = await ask(RESTORE, { file });
      expect([outcome === 'RESTORED', message]).toEqual([isRestored, expect.any(String)]);
    },
    600_000,
  );

  it('is bounded while it makes an archive of what was restored last, and of a row as large as it may be', async () => {
    await fixture.tasks.query(`insert into tasks values (gen_random_uuid(), repeat('wide', 15000000))`);
    expect(await ask(CREATE)).toEqual({ file: expect.stringMatching(/^taskmesh-/) });
  }, 600_000);
});
