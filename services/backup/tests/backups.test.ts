import type { Identity } from '@taskmesh/identity';
import { createLog } from '@taskmesh/service';
import { createTestDatabase, eventually, type TestDatabase } from '@taskmesh/testing';
import { mkdtemp, rename, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createBackup, type Backup, type BackupConfig } from '../src/index.ts';
import { configOf, createRecordingLog } from './support/backup-fixture.ts';

let database: TestDatabase;
let backup: Backup;
let dataDir: string;
let config: BackupConfig;

beforeAll(async () => {
  database = await createTestDatabase('backups');
  dataDir = await mkdtemp(join(tmpdir(), 'taskmesh-backups-'));
  config = configOf({ own: database, tasks: database, auth: database }, dataDir);
  const log = createLog({ service: 'backup', level: 'silent' });
  backup = await createBackup(config, { clock: { now: () => Date.now() }, log });
  await backup.start();
});

afterAll(async () => {
  await backup.stop();
  await database.drop();
  await rm(dataDir, { recursive: true });
});

describe('backups', () => {
  it.each([
    ...['{ backups { file } }', '{ backup(file: "x") { file } }', '{ undoableRestore { file } }'],
    ...['createBackup { file }', 'verifyBackup(file: "x") { file }', 'scanBackups { added }', 'deleteBackup(file: "x")', 'restoreBackup(file: "x") { success }', 'dryRunRestore(file: "x") { possible }', 'undoRestore { success }', 'newEpoch { epoch }'].map((field) => `mutation { ${field} }`),
  ])('are for operators only: %s', async (query) => {
    const codeFor = async (identity: Identity) => (await execute(query, identity)).errors?.[0]?.extensions?.code;
    expect(await codeFor({ role: 'anonymous' })).toBe('UNAUTHENTICATED');
    expect(await codeFor({ role: 'user', userId: 'u', sessionId: 's' })).toBe('FORBIDDEN');
  }); // prettier-ignore

  it('lists the archives of the directory, newest first, and nothing else', async () => {
    expect(await list()).toEqual([]);
    await put('old.tar.gz', 'old', new Date('2026-01-01T00:00:00Z'));
    await put('new.tar.gz', 'newer', new Date('2026-01-02T00:00:00Z'));
    await put('secret.tar.gz.age', 'x', new Date('2026-01-01T12:00:00Z'));
    await put('.half.tar.gz', 'half written', new Date());
    await put('notes.txt', 'no archive', new Date());
    await put('ahead.tar.gz', 'of a clock that was ahead', new Date('2099-01-01T00:00:00Z'));
    expect(await list()).toEqual([
      {
        file: 'new.tar.gz',
        sizeBytes: 5,
        sha256: null,
        createdAt: '2026-01-02T00:00:00.000Z',
        stores: [],
        verifiedAt: null,
      },
      expect.objectContaining({ file: 'secret.tar.gz.age' }),
      expect.objectContaining({ file: 'old.tar.gz' }),
      expect.objectContaining({ file: 'ahead.tar.gz' }),
    ]);
  });

  it('adds what the catalogue knows, but not to a file that took the place of the catalogued one', async () => {
    await put('known.tar.gz', '12345', new Date('2026-01-03T00:00:00Z'));
    await database.query(
      `insert into backups values ('known.tar.gz', 5, 'abc', '2026-01-03T10:00:00Z', '{tasks,auth}', '2026-01-04T00:00:00Z')`,
    );
    const entry = { sha256: 'abc', createdAt: '2026-01-03T10:00:00.000Z', stores: ['tasks', 'auth'] };
    expect((await list())[0]).toEqual({
      ...entry,
      file: 'known.tar.gz',
      sizeBytes: 5,
      verifiedAt: '2026-01-04T00:00:00.000Z',
    });
    await put('known.tar.gz', '1234567', new Date('2026-01-05T00:00:00Z'));
    expect((await list())[0]).toMatchObject({
      file: 'known.tar.gz',
      sizeBytes: 7,
      sha256: null,
      stores: [],
      verifiedAt: null,
    });
  });

  it('says that the place is not there, rather than that it is empty, and does not make it again', async () => {
    await rename(join(dataDir, 'backups'), join(dataDir, 'away'));
    const { errors } = await ask();
    expect(errors?.[0]).toMatchObject({
      message: 'The directory of the archives cannot be used: it is not there.',
      extensions: { code: 'SERVICE_UNAVAILABLE' },
    });
    const removal = await execute('mutation { deleteBackup(file: "old.tar.gz") }', { role: 'operator' });
    expect(removal.errors?.[0]).toMatchObject({ extensions: { code: 'SERVICE_UNAVAILABLE' } });
    await rename(join(dataDir, 'away'), join(dataDir, 'backups'));
  });

  it('warns at the start when the place is empty, and the list knew archives: a disk may not be mounted', async () => {
    const { log, logged } = createRecordingLog();
    const other = await createBackup(
      { ...config, backupsDir: join(dataDir, 'elsewhere') },
      { clock: { now: () => Date.now() }, log },
    );
    await other.start();
    await eventually(() =>
      expect(logged).toContainEqual(
        expect.objectContaining({
          level: 'warn',
          wasMade: true,
          known: expect.any(Number),
          msg: expect.stringContaining('is its disk mounted?'),
        }),
      ),
    ).finally(() => other.stop());
  });

  it('is ready while its database answers', async () => {
    const ready = { ok: true, checks: { database: true, schema: true } };
    await eventually(async () => expect(await backup.ready()).toEqual(ready));
  });
});

const execute = (query: string, identity: Identity) => backup.subgraph.execute({ query }, { identity, requestId: 'r' });

const ask = () => execute('{ backups { file sizeBytes sha256 createdAt stores verifiedAt } }', { role: 'operator' });

async function list(): Promise<unknown[]> {
  const { data, errors } = await ask();
  expect(errors).toBeUndefined();
  return data?.backups as unknown[];
}

async function put(name: string, content: string, at: Date): Promise<void> {
  const path = join(dataDir, 'backups', name);
  await writeFile(path, content);
  await utimes(path, at, at);
}
