import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { createBackupFixture, type BackupFixture } from './support/backup-fixture.ts';

const PROCESS = fileURLToPath(new URL('./support/archive-process.ts', import.meta.url));

let fixture: BackupFixture;
beforeAll(async () => {
  fixture = await createBackupFixture('faults');
  await fixture.tasks.query(
    `insert into tasks select gen_random_uuid(), 'task ' || n || md5(n::text) from generate_series(1, 8000) n`,
  );
  await fixture.auth.query(`insert into accounts values (1, 'a@example.com')`);
});
afterAll(() => fixture.close());
afterEach(async () => {
  expect(await fixture.leftovers()).toEqual([]);
  expect((await readdir(fixture.config.backupsDir)).filter((file) => !file.startsWith('taskmesh-'))).toEqual([]);
});

describe('when something is full, away, or done twice', () => {
  it('a verification that has no room says so, and does not blame the archive', async () => {
    const { file } = await fixture.backup.backups.create();
    await fixture.backup.backups.verify(file);
    const query = 'mutation ($file: String!) { verifyBackup(file: $file) { file } }';
    const said = await inSmallFiles({ query, variables: { file } });
    expect(said).toContain('The archive was not verified: it is larger than a file may be.');
    expect(said).toContain('SERVICE_UNAVAILABLE');
    expect((await fixture.backup.backups.find(file))?.verifiedAt).toBeInstanceOf(Date);
  }, 120_000);

  it('a restore that has no room leaves the stores as they were', async () => {
    const { file } = await fixture.backup.backups.create();
    const query = 'mutation ($file: String!) { restoreBackup(file: $file) { outcome error } }';
    expect(await inSmallFiles({ query, variables: { file } })).toContain('EXTRACTION_FAILED');
    expect(await fixture.tasks.query('select count(*)::int as n from tasks')).toEqual([{ n: 8_000 }]);
  }, 120_000);

  it('an upload is whole though the catalogue is away', async () => {
    await fixture.own.query('alter table backups rename to hidden');
    const file = 'taskmesh-uploaded.tar.gz';
    try {
      await fixture.backup.backups.upload(file, Readable.from([gzipSync('content')]));
    } finally {
      await fixture.own.query('alter table hidden rename to backups');
    }
    expect(await fixture.backup.backups.find(file)).toMatchObject({ file, sha256: null, origin: 'unknown' });
    expect(await fixture.backup.backups.remove(file)).toBe(true);
  });

  it('everything at once ends as each alone would', async () => {
    const { file } = await fixture.backup.backups.create();
    const { backups } = fixture.backup;
    const outcomes = await Promise.allSettled([
      fixture.restore(file),
      backups.verify(file),
      backups.create(),
      fixture.restore(file),
      backups.create(),
      backups.remove('none.tar.gz'),
    ]);
    // A restore ends the sessions of the stores, and so those that read them at that moment, with a clear error.
    const failures = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason] : []));
    for (const failure of failures) expect(failure).toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
    // One restore waits for the other, which takes longer than that on a slow machine.
    const restores = [outcomes[0], outcomes[3]].map(
      (outcome) => outcome.status === 'fulfilled' && outcome.value.outcome,
    );
    expect(restores).toContain('RESTORED');
    expect(['RESTORED', 'BUSY']).toEqual(expect.arrayContaining(restores));
    expect(await fixture.tasks.query('select count(*)::int as n from tasks')).toEqual([{ n: 8_000 }]);
    const made = outcomes.slice(2).flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []));
    const archive = made.find((value) => typeof value === 'object' && 'file' in value);
    if (archive) expect(await backups.verify(archive.file)).toMatchObject({ stores: ['tasks', 'auth'] });
  }, 180_000);
});

/** In a process whose files may have 512 blocks at the most; returns what it said. */
async function inSmallFiles(task: { query: string; variables: object }): Promise<string> {
  const command = `trap '' XFSZ; ulimit -f 512; exec "$0" "$@"`;
  const args = ['-c', command, process.execPath, PROCESS, JSON.stringify({ config: fixture.config, ...task })];
  const child = spawn('/bin/bash', args, { stdio: ['ignore', 'pipe', 'inherit'] });
  let output = '';
  child.stdout.on('data', (part: Buffer) => (output += part.toString()));
  await once(child, 'close');
  return output;
}
