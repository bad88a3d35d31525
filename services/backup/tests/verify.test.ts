import type { Identity } from '@taskmesh/identity';
import { eventually } from '@taskmesh/testing';
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readFile, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { WorkProgress } from '@taskmesh/internal-api';
import {
  accountsDump,
  createBackupFixture,
  ownArchive,
  tasksDump,
  type BackupFixture,
} from './support/backup-fixture.ts';

const PROCESS = fileURLToPath(new URL('./support/archive-process.ts', import.meta.url));
/** When to kill, as shares of the time that an undisturbed verification takes. */
const MOMENTS = [0.3, 0.6, 0.85];
const OPERATOR: Identity = { role: 'operator' };
const VERIFY = 'mutation ($file: String!) { verifyBackup(file: $file) { file stores verifiedAt verifiedVersion } }';

let fixture: BackupFixture;
beforeAll(async () => {
  fixture = await createBackupFixture('verify');
});
afterAll(() => fixture.close());

beforeEach(async () => {
  await fixture.tasks.query(`truncate tasks; insert into tasks values (gen_random_uuid(), 'living')`);
  await fixture.auth.query(`truncate accounts cascade; insert into accounts values (1, 'living@x')`);
});
afterEach(async () => {
  expect(await fixture.leftovers()).toEqual([]);
  expect(await fixture.own.query('select 1 from verifications')).toEqual([]);
  expect(await fixture.tasks.query('select title from tasks')).toEqual([{ title: 'living' }]);
  expect(await fixture.auth.query('select email from accounts')).toEqual([{ email: 'living@x' }]);
});

const verify = async (file: string, identity: Identity = OPERATOR) => {
  const run = fixture.backup.subgraph.execute({ query: VERIFY, variables: { file } }, { identity, requestId: 'r' });
  const { data, errors } = await run;
  return { verified: data?.verifyBackup, error: errors?.[0] };
};
const find = (file: string) => fixture.backup.backups.find(file);
const good = () => ownArchive({ tasks: tasksDump(['one', 'two']), auth: accountsDump(['a@x']) });

/** The archive of `good` with a manifest that promises other rows. */
function promising(rows: Record<string, number>) {
  const files = good();
  const manifest = JSON.parse(files['manifest.json'] ?? '') as { stores: { tasks: { rows: Record<string, number> } } };
  manifest.stores.tasks.rows = rows;
  return { ...files, 'manifest.json': JSON.stringify(manifest) };
}

describe('verifying a backup', () => {
  it('is for operators only', async () => {
    expect((await verify('x.tar.gz', { role: 'anonymous' })).error?.extensions?.code).toBe('UNAUTHENTICATED');
    const user: Identity = { role: 'user', userId: 'u', sessionId: 's' };
    expect((await verify('x.tar.gz', user)).error?.extensions?.code).toBe('FORBIDDEN');
  });

  it('proves what was made here, and keeps that in the catalogue', async () => {
    const { file, sha256 } = await fixture.backup.backups.create();
    const { verified } = await verify(file);
    expect(verified).toEqual({
      file,
      stores: ['tasks', 'auth'],
      verifiedAt: expect.any(String),
      verifiedVersion: expect.stringMatching(/^\d+\.\d+\.\d+/),
    });
    expect(await find(file)).toMatchObject({ file, sha256, verifiedAt: expect.any(Date) });
    expect((await fixture.backup.backups.list()).find((backup) => backup.file === file)?.verifiedAt).toBeInstanceOf(
      Date,
    );
  });

  it('proves what somebody made by hand, and says which store that is', async () => {
    await fixture.archive('foreign.tar.gz', { 'database.sql': tasksDump(['three']) });
    expect((await verify('foreign.tar.gz')).verified).toMatchObject({ stores: ['tasks'] });
  });

  it('reports how far it is', async () => {
    await fixture.archive('steps.tar.gz', good());
    const progress: WorkProgress[] = [];
    await fixture.backup.backups.verify('steps.tar.gz', (step) => progress.push(step));
    const steps = progress.map(({ phase, store = '' }) => `${phase} ${store}`.trim());
    const inOrder = steps.filter((step, index) => step !== steps[index - 1]);
    expect(inOrder).toEqual(['extract', 'load tasks', 'check tasks', 'load auth', 'check auth']);
    for (const { doneBytes = 0, totalBytes = 0 } of progress) expect(doneBytes).toBeLessThanOrEqual(totalBytes);
    const read = progress.findLast(({ phase }) => phase === 'extract');
    expect(read?.doneBytes).toBe(read?.totalBytes);
  });

  it.each([
    ['no gzip', 'this is no archive', 'it is no intact gzip file'],
    ['no dump', { 'notes.txt': 'hello' }, 'it holds no database.sql.'],
    [
      'a dump that PostgreSQL refuses',
      { 'database.sql': 'insert into nowhere values (1);' },
      'Line 1: relation "nowhere"',
    ],
    ['a hostile dump', { 'database.sql': '\\! touch /tmp/x\n' }, 'Line 1 is a command for psql'],
    ['an incomplete store', { 'database.sql': 'create table other (id int);' }, 'There is no table tasks.'],
    ['a dump that is not the one of the manifest', () => ({ ...good(), 'auth.sql': '--' }), 'auth.sql is not what'],
    ['fewer rows than promised', () => promising({ tasks: 3 }), 'The table tasks has 2 rows, and the manifest says 3.'],
  ])('refuses %s, with the reason', async (name, content, reason) => {
    const file = `${name.replaceAll(' ', '-')}.tar.gz`;
    const files = typeof content === 'function' ? content() : content;
    if (typeof files === 'string') await writeFile(join(fixture.config.backupsDir, file), files);
    else await fixture.archive(file, files);
    const { error } = await verify(file);
    expect(error?.extensions?.code).toBe('CONFLICT');
    expect(error?.message).toContain('The archive is not fit for a restore: ');
    expect(error?.message).toContain(reason);
    expect((await find(file))?.verifiedAt ?? null).toBeNull();
  });

  it('forgets that an archive was proved when it is not fit any more', async () => {
    const { file } = await fixture.backup.backups.create();
    await verify(file);
    const path = join(fixture.config.backupsDir, file);
    const bytes = await readFile(path);
    const middle = Math.floor(bytes.length / 2);
    bytes.writeUInt8(bytes.readUInt8(middle) ^ 0xff, middle);
    await writeFile(path, bytes);
    expect((await verify(file)).error?.extensions?.code).toBe('CONFLICT');
    expect(await find(file)).toMatchObject({
      verifiedAt: null,
      unfitAt: expect.any(Date),
      sha256: null,
      origin: 'request',
    });
    await utimes(path, new Date(), new Date(Date.now() + 5_000));
    expect(await find(file)).toMatchObject({ unfitAt: null });
  });

  it('knows nothing of an archive that took the place of a proved one, also when it is as large', async () => {
    const { file } = await fixture.backup.backups.create();
    await verify(file);
    const path = join(fixture.config.backupsDir, file);
    const bytes = await readFile(path);
    await utimes(path, new Date(), new Date(Date.now() + 5_000));
    await writeFile(path, bytes.fill(0));
    const nothing = { verifiedAt: null, verifiedVersion: null, sha256: null };
    expect(await find(file)).toMatchObject({ ...nothing, origin: 'request' });
    expect((await fixture.backup.backups.list()).find((backup) => backup.file === file)).toMatchObject(nothing);
    const download = await fixture.backup.backups.download(file);
    expect(download?.sha256).toBeNull();
    await download?.close();
  });

  it('proves what it has read, and nothing that took its place meanwhile', async () => {
    await fixture.archive('proved.tar.gz', good());
    await fixture.archive('moved.tar.gz', good());
    const moved = join(fixture.config.backupsDir, 'moved.tar.gz');
    const replace = async () => utimes(moved, new Date(0), new Date(0));
    const begun: Promise<void>[] = [];
    const run = fixture.backup.backups.verify(
      'moved.tar.gz',
      ({ phase }) => void (phase === 'load' && begun.push(replace())),
    );
    await expect(run).rejects.toMatchObject({
      code: 'SERVICE_UNAVAILABLE',
      message: expect.stringContaining('replaced'),
    });
    await Promise.all(begun);
    expect((await find('moved.tar.gz'))?.verifiedAt).toBeNull();
    const { sha256 } = await fixture.backup.backups.verify('proved.tar.gz');
    const bytes = await readFile(join(fixture.config.backupsDir, 'proved.tar.gz'));
    expect(sha256).toBe(createHash('sha256').update(bytes).digest('hex'));
  });

  it('is remembered by the figures of a service that starts again', async () => {
    const { file } = await fixture.backup.backups.create();
    const { verifiedAt } = await fixture.backup.backups.verify(file);
    const next = await fixture.startOther();
    await eventually(async () => {
      const text = await next.metrics.getSingleMetricAsString('taskmesh_backup_last_verified_timestamp_seconds');
      expect(Number(text.trim().split(' ').at(-1))).toBeGreaterThanOrEqual((verifiedAt?.getTime() ?? Infinity) / 1000);
    }).finally(() => next.stop());
  });

  it('says when a server is away, and keeps what was known', async () => {
    const { file } = await fixture.backup.backups.create();
    await verify(file);
    const adminUrls = { ...fixture.config.secrets.adminUrls, auth: 'postgres://stranger@127.0.0.1:1/none' };
    await fixture.withOther({ secrets: { adminUrls } }, async (away) => {
      await expect(away.backups.verify(file)).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
    });
    expect((await find(file))?.verifiedAt).toBeInstanceOf(Date);
    expect(await fixture.own.query('select 1 from verifications')).toHaveLength(1);
    // What it could not take away, the next one does.
    await fixture.backup.backups.verify(file);
  });

  it.each(['none.tar.gz', '', '..', '../verify.tar.gz', '/etc/passwd', 'a\0.tar.gz', 'notes.txt'])(
    'finds nothing by the name %j',
    async (file) => {
      expect((await verify(file)).error).toMatchObject({ extensions: { code: 'NOT_FOUND' } });
    },
  );

  it('lets restores go their way, and a second verification wait for the first', async () => {
    await fixture.archive('slow.tar.gz', good());
    await fixture.archive('living.tar.gz', { 'database.sql': tasksDump(['living']) });
    const reached = Promise.withResolvers<void>();
    const goOn = Promise.withResolvers<void>();
    const { tasks, auth } = fixture.owners;
    const importDatabase = async (database: string) => {
      reached.resolve();
      await goOn.promise;
      return tasks.importDatabase(database);
    };
    const other = await fixture.startOther({ owners: { tasks: { ...tasks, importDatabase }, auth } });
    try {
      const first = other.backups.verify('slow.tar.gz');
      await reached.promise;
      expect(await fixture.restore('living.tar.gz')).toMatchObject({ databaseRestored: true });
      const scheduled = fixture.backup.backups.verify('living.tar.gz', undefined, 'schedule');
      await expect(fixture.backup.backups.verify('slow.tar.gz')).rejects.toMatchObject({
        code: 'SERVICE_UNAVAILABLE',
        message: 'Another verification is running; try again later.',
      });
      goOn.resolve();
      expect(await first).toMatchObject({ stores: ['tasks', 'auth'] });
      expect(await scheduled).toMatchObject({ verifiedAt: expect.any(Date) }); // has nothing else to do than to wait
    } finally {
      goOn.resolve();
      await other.stop();
    }
  }, 120_000);
});

describe('a backup service that is killed while it verifies', () => {
  it('leaves the stores alone, and its next start leaves nothing', async () => {
    const titles = Array.from({ length: 500 }, (_, index) => `loaded ${index}`);
    await fixture.archive('killed.tar.gz', ownArchive({ tasks: tasksDump(titles), auth: accountsDump(['a@x']) }));
    const wholeMs = await runVerify();
    let unfinished = 0;
    for (const moment of MOMENTS) {
      await runVerify(wholeMs * moment);
      unfinished += (await fixture.leftovers()).length;
      const next = await fixture.startOther();
      await eventually(async () => expect(await fixture.leftovers()).toEqual([]));
      await next.stop();
    }
    expect(unfinished).toBeGreaterThan(0);
  }, 120_000);
});

/** Verifies in a process of its own, killed after `killAfterMs`; says how long it ran. */
async function runVerify(killAfterMs?: number): Promise<number> {
  const task = { config: fixture.config, query: VERIFY, variables: { file: 'killed.tar.gz' } };
  const child = spawn(process.execPath, [PROCESS, JSON.stringify(task)], { stdio: ['ignore', 'pipe', 'inherit'] });
  const exit = once(child, 'exit');
  await once(child.stdout, 'data');
  const begin = performance.now();
  if (killAfterMs !== undefined) setTimeout(() => child.kill('SIGKILL'), killAfterMs);
  child.stdout.resume();
  await exit;
  return performance.now() - begin;
}
