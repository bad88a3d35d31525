import { generateIdentity } from 'age-encryption';
import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import type { Manifest } from '../src/archives/manifest.ts';
import { pax, tar, type TarEntry } from './archives/tar-bytes.ts';
import { accountsDump, createBackupFixture, ownArchive, tasksDump } from './support/backup-fixture.ts';
import { startBackupProcess } from './support/backup-process.ts';
import { encrypted } from './support/ciphers.ts';
import { privateMib } from './support/memory.ts';

const MIB = 1024 * 1024;
const TABLE = 'create table t (a int, b text, c text);\n';
const row = `(1, 'abc', null)`;

/** Dumps that would cost a careless reader much memory, and whether they are restored. */
const HEAVY_DUMPS: [what: string, dump: () => string, isRestored: boolean][] = [
  ['one INSERT of very many rows', () => `${TABLE}insert into t values ${Array(100_000).fill(row).join(',')};`, true],
  ['very many INSERT statements', () => TABLE + `insert into t values ${row};\n`.repeat(20_000), true],
  ['statements of many constants', () => TABLE + `insert into t values (${'1,'.repeat(30_000)}1);`, false],
  ['long texts', () => TABLE + `insert into t (b) values ('${'x'.repeat(1.9 * MIB)}');\n`.repeat(20), true],
  ['deep nesting', () => `${TABLE}select ${'('.repeat(60_000)}1`, false],
  ['many tables', () => Array.from({ length: 900 }, (_, n) => `create table t${n} (a int, b text default 'x');`).join('\n'), true], // prettier-ignore
  ['much COPY data', () => `${TABLE}copy t from stdin;\n${`1\t${'x'.repeat(90)}\ty\n`.repeat(1_000_000)}\\.\n`, true],
  ['a line of COPY data without an end', () => `${TABLE}copy t from stdin;\n${'x'.repeat(72 * MIB)}`, false],
  ['a statement without an end', () => TABLE + 'a '.repeat(36 * MIB), false],
];

/** Archives whose restore would cost a careless reader much memory. Encrypted ones end with `.age`. */
type HardArchive = [what: string, bytes: () => Promise<Buffer> | Buffer, isRestored: boolean, suffix?: string];

const KEY = await generateIdentity();

const zipped = (entries: (TarEntry | Buffer)[]) => gzipSync(tar(entries), { level: 1 });
const zippedFiles = (files: Record<string, string | Buffer>) =>
  zipped(Object.entries(files).map(([name, content]) => ({ name, content })));
/** An archive with a dump of these lines of COPY data. */
const zippedLines = (lines: string[]) =>
  zippedFiles({
    'database.sql': `create table tasks (id uuid, title text);\ncopy tasks from stdin;\n${lines.join('')}\\.\n`,
  });

const taskLine = (title: string, n = 0) => `00000000-0000-7000-8000-${String(n).padStart(12, '0')}\t${title}\n`;
const own = (change?: (manifest: Manifest) => unknown) =>
  ownArchive({ tasks: tasksDump(['one']), auth: accountsDump(['a@x']) }, change);

function withManifest(padTo: number, change?: (manifest: Manifest) => unknown): Buffer {
  const files = own(change);
  return zippedFiles({ ...files, 'manifest.json': files['manifest.json'].padEnd(padTo, ' ') });
}

/** Adds names of missing tables to a manifest, as many and as long as it may contain. */
const manyTables = ({ stores }: Manifest) => {
  for (const store of Object.values(stores)) for (let n = 0; n < 999; n++) store.rows[`t${n}`.padEnd(63, 'x')] = 0;
};

const HARD_ARCHIVES: HardArchive[] = [
  ['a manifest at its limit', () => withManifest(MIB / 4), true],
  ['a manifest of two thousand tables', () => withManifest(MIB, manyTables), false],
  ['a manifest beyond its limit', () => withManifest(200 * MIB), false],
  ['a manifest of nested lists', () => zippedFiles({ ...own(), 'manifest.json': '['.repeat(MIB - 1) }), false],
  ['half a gigabyte of nothing', () => zippedFiles({ 'database.sql': Buffer.alloc(511 * MIB, '\n') }), false],
  // The header is not kept in memory.
  ['a long extended header', () => zipped([pax({ comment: 'x'.repeat(64 * MIB) }), { name: 'database.sql', content: tasksDump(['one']) }]), true],
  ['rows as large as they may be', () => zippedLines([1, 2, 3].map((n) => taskLine('r'.repeat(63 * MIB), n))), true],
  ['an encrypted one that does not compress', () =>
    encrypted(zippedLines(Array.from({ length: 100 }, (_, n) => taskLine(randomBytes(MIB / 2).toString('hex'), n))), KEY), true, '.age'],
  ['an encrypted one that asks for a password, and for all memory to check it', () =>
    Buffer.from(`age-encryption.org/v1\n-> scrypt ${'A'.repeat(22)} 30\n${'A'.repeat(43)}\n--- ${'A'.repeat(43)}\n`), false, '.age'],
  ...HEAVY_DUMPS.map(([what, dump, isRestored]): HardArchive =>
    [`a dump: ${what}`, () => zippedFiles({ 'database.sql': `${dump()}\n${tasksDump(['one'])}` }), isRestored]),
]; // prettier-ignore

/** How much more memory the service and its children may use than when it is idle. */
const BOUND_MIB = 128;
const MEASURE_EVERY_MS = 5;

const RESTORE = 'mutation ($file: String!) { result: restoreBackup(file: $file) { message outcome } }';
const CREATE = 'mutation { result: createBackup { file } }';

/** One archive of each kind; a long run (npm run test:long) tries all of them. */
const QUICK = /^(a manifest at its limit|a dump: (one INSERT|deep|many tables|a line of COPY).*)$/;
const ARCHIVES = HARD_ARCHIVES.filter(([what]) => process.env.TASKMESH_LONG || QUICK.test(what)).map(
  ([what, bytes, isRestored, suffix = '']) => [what, bytes, isRestored, suffix] as const,
);

const fixture = await createBackupFixture('memory', { keys: [KEY] });
await fixture.backup.stop();
const backup = await startBackupProcess(fixture.config);
await pause(1_000); // garbage of the start is collected meanwhile
const idleMib = privateMib(backup.pid);
expect(idleMib).toBeGreaterThan(0);
afterAll(() => backup.stop());

/** Sends a request to the service, and expects its memory to stay within the bound. */
async function ask(query: string, variables: Record<string, unknown> = {}) {
  let worstMib = 0;
  const timer = setInterval(() => (worstMib = Math.max(worstMib, privateMib(backup.pid))), MEASURE_EVERY_MS);
  const answer = await backup.ask(query, variables).finally(() => clearInterval(timer));
  expect(worstMib - idleMib).toBeLessThan(BOUND_MIB);
  return answer?.data?.result as Record<string, unknown>;
}

it.each(ARCHIVES)(
  'the memory of a service is bounded while it restores %s',
  async (_what, bytes, isRestored, suffix) => {
    const file = `hard.tar.gz${suffix}`;
    await writeFile(join(fixture.config.backupsDir, file), await bytes());
    const { outcome, message } = await ask(RESTORE, { file });
    expect([outcome === 'RESTORED', message]).toEqual([isRestored, expect.any(String)]);
  },
  600_000,
);

it('the memory of a service is bounded while it archives the last restored data and a row of maximum size', async () => {
  await fixture.tasks.query(`insert into tasks values (gen_random_uuid(), repeat('wide', 15000000))`);
  expect(await ask(CREATE)).toEqual({ file: expect.stringMatching(/^taskmesh-/) });
}, 600_000);
