import type { Identity } from '@taskmesh/identity';
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, readdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createBackupFixture, type BackupFixture } from './support/backup-fixture.ts';

const PROCESS = fileURLToPath(new URL('./support/archive-process.ts', import.meta.url));
/** When to kill, as shares of the time that an undisturbed run takes. */
const MOMENTS = [0.1, 0.3, 0.5, 0.7, 0.85, 0.95];
const OPERATOR: Identity = { role: 'operator' };

let fixture: BackupFixture;
beforeAll(async () => {
  fixture = await createBackupFixture('create');
});
afterAll(() => fixture.close());
beforeEach(() => fixture.reset());

function ask(query: string, variables: Record<string, unknown> = {}, identity = OPERATOR) {
  return fixture.backup.subgraph.execute({ query, variables }, { identity, requestId: 'r' });
}

interface Made {
  file: string;
  sizeBytes: number;
  sha256: string;
  createdAt: string;
  stores: string[];
  verifiedAt: string | null;
}

const FIELDS = '{ file sizeBytes sha256 createdAt stores verifiedAt }';

async function create(): Promise<Made> {
  const { data, errors } = await ask(`mutation { createBackup ${FIELDS} }`);
  expect(errors).toBeUndefined();
  return data?.createBackup as Made;
}

const failure = async () => (await ask(`mutation { createBackup ${FIELDS} }`)).errors?.[0];
const list = async () => (await ask(`{ backups ${FIELDS} }`)).data?.backups;
const remove = async (file: string) =>
  (await ask('mutation ($file: String!) { deleteBackup(file: $file) }', { file })).data?.deleteBackup;
const filesOnDisk = () => readdir(fixture.config.backupsDir);

const seed = async (n: number) => {
  await fixture.tasks.query(
    `insert into tasks select gen_random_uuid(), 'task ' || n || ' ' || md5(n::text) from generate_series(1, ${n}) n`,
  );
  await fixture.auth.query(`insert into accounts values (1, 'a@x'), (2, 'b@x')`);
  await fixture.auth.query('insert into sessions (account) values (1), (2)');
};

describe('making a backup', () => {
  it('makes an archive that is listed with all that is known of it', async () => {
    await seed(10);
    const made = await create();
    const bytes = await readFile(join(fixture.config.backupsDir, made.file));
    expect(made).toMatchObject({ sizeBytes: bytes.length, stores: ['tasks', 'auth'], verifiedAt: null });
    expect(made.sha256).toBe(createHash('sha256').update(bytes).digest('hex'));
    expect(made.file).toMatch(/^taskmesh-\d{8}T\d{6}Z-[0-9a-f]{12}\.tar\.gz$/);
    expect((await stat(join(fixture.config.backupsDir, made.file))).mode & 0o777).toBe(0o600);
    expect(await list()).toEqual([made]);
    expect(await filesOnDisk()).toEqual([made.file]);
    expect(await fixture.leftovers()).toEqual([]);
  });

  it('makes what a restore brings back, row by row, in both stores', async () => {
    await seed(2_000);
    const tasksBefore = await fixture.tasks.query('select id, title from tasks order by id');
    const accountsBefore = await fixture.auth.query('select * from accounts order by id');
    const { file } = await create();
    await fixture.tasks.query(`update tasks set title = 'changed'; delete from tasks where id::text < '8'`);
    await fixture.auth.query(
      `delete from sessions where account = 2; delete from accounts where id = 2; insert into accounts values (3, 'c@x')`,
    );
    expect(await fixture.restore(file)).toMatchObject({ success: true, databaseRestored: true });
    expect(await fixture.tasks.query('select id, title from tasks order by id')).toEqual(tasksBefore);
    expect(await fixture.auth.query('select * from accounts order by id')).toEqual(accountsBefore);
    // Sessions are not the archive's: the one that ended stays ended.
    expect(await fixture.auth.query('select account from sessions')).toEqual([{ account: 1 }]);
  });

  it('holds one moment of a store to which others write all the while', async () => {
    await seed(5_000);
    let writing = true;
    let moves = 0;
    // Each statement moves one unit between two rows: their sum is always 0.
    await fixture.tasks.query('create table balance (side text, n int, filler text)');
    await fixture.tasks.query(`insert into balance values ('left', 0), ('right', 0)`);
    const writer = (async () => {
      while (writing) {
        await fixture.tasks.query(`update balance set n = n + case side when 'left' then 1 else -1 end`);
        moves += 1;
      }
    })();
    const made = [await create(), await create(), await create()];
    writing = false;
    await writer;
    expect(moves).toBeGreaterThan(3);
    for (const { file } of made) {
      const dump = await dumpIn(file);
      const sides = /COPY public\.balance [^\n]*\n(\w+)\t(-?\d+)\t\\N\n(\w+)\t(-?\d+)\t\\N\n/.exec(dump);
      expect(Number(sides?.[2]) + Number(sides?.[4])).toBe(0);
    }
  });

  it('says that a store is away, and leaves nothing', async () => {
    const adminUrls = { ...fixture.config.secrets.adminUrls, auth: 'postgres://stranger@127.0.0.1:1/none' };
    await fixture.withOther({ secrets: { adminUrls } }, async ({ backups }) => {
      await expect(backups.create()).rejects.toMatchObject({
        message: 'The backup was not made: a store was not available.',
        code: 'SERVICE_UNAVAILABLE',
      });
    });
    expect(await filesOnDisk()).toEqual([]);
    expect(await fixture.leftovers()).toEqual([]);
  });

  it('says what a store has that a dump cannot hold, and leaves nothing', async () => {
    await fixture.auth.query('create table living (n int) partition by list (n)');
    expect(await failure()).toMatchObject({
      message: 'The backup was not made: auth: the database holds what a dump cannot hold: partitioned table "living".',
      extensions: { code: 'CONFLICT' },
    });
    expect(await filesOnDisk()).toEqual([]);
    expect(await fixture.leftovers()).toEqual([]);
  });

  it('says that a file cannot grow any more, and leaves nothing', async () => {
    await seed(20_000);
    const full = await runProcess({ fileBlocks: 512 });
    expect(full.output).toContain('The backup was not made: it is larger than a file may be.');
    expect(await filesOnDisk()).toEqual([]);
    expect(await fixture.leftovers()).toEqual([]);
  });

  it('says that the place of the archives is none, and leaves nothing', async () => {
    await seed(10);
    await rename(fixture.config.backupsDir, `${fixture.config.backupsDir}.away`);
    await writeFile(fixture.config.backupsDir, 'a file');
    expect(await failure()).toMatchObject({
      message: 'The directory of the archives cannot be used: it is no directory.',
      extensions: { code: 'SERVICE_UNAVAILABLE' },
    });
    await rm(fixture.config.backupsDir);
    await rename(`${fixture.config.backupsDir}.away`, fixture.config.backupsDir);
    expect(await fixture.leftovers()).toEqual([]);
  });

  it('still makes the archive when the catalogue cannot be written', async () => {
    await seed(10);
    await fixture.own.query('alter table backups rename to hidden');
    const made = await create();
    await fixture.own.query('alter table hidden rename to backups');
    expect(await list()).toEqual([
      expect.objectContaining({ file: made.file, sizeBytes: made.sizeBytes, sha256: null }),
    ]);
    expect(fixture.logged).toContainEqual(expect.objectContaining({ msg: 'backup not catalogued' }));
  });
});

describe('deleting a backup', () => {
  it('removes the archive and what is known of it', async () => {
    const { file } = await create();
    expect(await remove(file)).toBe(true);
    expect(await list()).toEqual([]);
    expect(await filesOnDisk()).toEqual([]);
    expect(await fixture.own.query('select 1 from backups')).toEqual([]);
    expect(await remove(file)).toBe(false);
  });

  it('removes nothing that is not listed', async () => {
    const { backupsDir } = fixture.config;
    await writeFile(join(backupsDir, 'notes.txt'), 'keep');
    await writeFile(join(backupsDir, '.hidden.tar.gz'), 'keep');
    await writeFile(join(backupsDir, '..', 'outside.tar.gz'), 'keep');
    await mkdir(join(backupsDir, 'folder.tar.gz'));
    const names = ['notes.txt', '.hidden.tar.gz', '../outside.tar.gz', join(backupsDir, '..', 'outside.tar.gz'), 'folder.tar.gz',
      '', '.', '..', 'a\0.tar.gz', `${'x'.repeat(5_000)}.tar.gz`, 'missing.tar.gz']; // prettier-ignore
    for (const name of names) expect([name, await remove(name)]).toEqual([name, false]);
    expect((await filesOnDisk()).toSorted()).toEqual(['.hidden.tar.gz', 'folder.tar.gz', 'notes.txt']);
    expect(await readFile(join(backupsDir, '..', 'outside.tar.gz'), 'utf8')).toBe('keep');
  });
});

describe('a backup service that is killed while it makes an archive', () => {
  it('leaves nothing that is listed and not whole, and its next start leaves nothing else', async () => {
    await seed(60_000);
    const { tookMs } = await runProcess({});
    const before = await filesOnDisk();
    expect(before).toHaveLength(1);
    let unfinished = 0;
    for (const moment of MOMENTS) {
      await runProcess({ killAfterMs: tookMs * moment });
      const onDisk = await filesOnDisk();
      const listed = (await list()) as Made[];
      unfinished += onDisk.length - listed.length + (await fixture.leftovers()).length;
      await startAgain();
      expect(await filesOnDisk()).toHaveLength(listed.length);
      expect(await fixture.leftovers()).toEqual([]);
      for (const { file } of listed) expect(await dumpIn(file)).toContain('-- PostgreSQL database dump complete');
    }
    expect(unfinished).toBeGreaterThan(0);
  }, 120_000);

  it('does not take a living writer for a killed one, wherever it runs', async () => {
    const { backupsDir } = fixture.config;
    const [own, elsewhere, forgotten] = [
      `.unfinished-${process.pid}-ab-here`,
      '.unfinished-1-ab-elsewhere',
      '.unfinished-1-ab-gone',
    ];
    for (const name of [own, elsewhere, forgotten]) await writeFile(join(backupsDir, name), 'half');
    const longAgo = new Date(Date.now() - 2 * 60 * 60 * 1000);
    await utimes(join(backupsDir, forgotten), longAgo, longAgo);
    await startAgain();
    expect((await filesOnDisk()).toSorted()).toEqual([elsewhere, own].toSorted());
  });
});

/** Another instance begins, and removes what is left. */
const startAgain = () => fixture.withOther({}, async () => undefined);

/** Makes an archive in a process of its own: killed after a while, or with files of limited size. */
async function runProcess({ killAfterMs, fileBlocks }: { killAfterMs?: number; fileBlocks?: number }) {
  const limit = fileBlocks === undefined ? '' : `trap '' XFSZ; ulimit -f ${fileBlocks}; `;
  const child = spawn('/bin/bash', ['-c', `${limit}exec "$0" "$@"`, process.execPath, PROCESS, JSON.stringify({ config: fixture.config, query: 'mutation { createBackup { file } }' })], {
    stdio: ['ignore', 'pipe', 'inherit'],
  }); // prettier-ignore
  let output = '';
  child.stdout.on('data', (part: Buffer) => (output += part.toString()));
  const exit = once(child, 'close');
  await once(child.stdout, 'data');
  const begin = performance.now();
  if (killAfterMs !== undefined) setTimeout(() => child.kill('SIGKILL'), killAfterMs);
  await exit;
  return { tookMs: performance.now() - begin, output };
}

/** The dump of tasks in an archive, unpacked by the system's own tar. */
async function dumpIn(file: string): Promise<string> {
  const child = spawn('tar', ['-xzOf', join(fixture.config.backupsDir, file), 'database.sql']);
  let text = '';
  child.stdout.on('data', (part: Buffer) => (text += part.toString()));
  const [code] = await once(child, 'close');
  expect(code).toBe(0);
  return text;
}
