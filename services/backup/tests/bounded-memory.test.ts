import { generateIdentity } from 'age-encryption';
import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { createArchiveCipher } from '../src/archives/encryption.ts';
import { pax, tar, type TarEntry } from './archives/tar-bytes.ts';
import { accountsDump, createBackupFixture, ownArchive, tasksDump } from './support/backup-fixture.ts';
import { startBackupProcess } from './support/backup-process.ts';
import { privateMib } from './support/memory.ts';

const MIB = 1024 * 1024;
const TABLE = 'create table t (a int, b text, c text);\n';
const row = `(1, 'abc', null)`;

/** Dumps that would cost a careless reader much memory. */
const HEAVY_DUMPS: [what: string, dump: () => string][] = [
  ['one INSERT of very many rows', () => `${TABLE}insert into t values ${Array(100_000).fill(row).join(',')};`],
  ['very many INSERT statements', () => TABLE + `insert into t values ${row};\n`.repeat(20_000)],
  ['statements of many constants', () => TABLE + `insert into t values (${'1,'.repeat(30_000)}1);`],
  ['statements with long texts', () => TABLE + `insert into t (b) values ('${'x'.repeat(1.9 * MIB)}');\n`.repeat(20)],
  ['statements with many operators', () => TABLE + `select 1${'+1'.repeat(30_000)};`],
  ['deep nesting', () => `${TABLE}select ${'('.repeat(60_000)}1`],
  ['many columns', () => `create table t (${Array.from({ length: 1_500 }, (_, n) => `a${n} int`).join(',')});`],
  [
    'many tables',
    () => Array.from({ length: 900 }, (_, n) => `create table t${n} (a int, b text default 'x');`).join('\n'),
  ],
  ['much COPY data', () => `${TABLE}copy t from stdin;\n${`1\t${'x'.repeat(90)}\ty\n`.repeat(1_000_000)}\\.\n`],
  ['a line of COPY data without an end', () => `${TABLE}copy t from stdin;\n${'x'.repeat(72 * MIB)}`],
  ['a statement without an end', () => TABLE + 'a '.repeat(36 * MIB)],
  ['a comment without an end', () => `${TABLE}-- ${'a '.repeat(36 * MIB)}`],
];

interface HardArchive {
  what: string;
  suffix?: string;
  bytes: () => Promise<Buffer>;
  isRestored: boolean;
}

const KEY = await generateIdentity();

const zipped = (entries: (TarEntry | Buffer)[]) => gzipSync(tar(entries), { level: 1 });
const entriesOf = (files: Record<string, string | Buffer>) =>
  Object.entries(files).map(([name, content]) => ({ name, content }));

/** Makes a dump restorable: adds a table of tasks after its difficult part. */
const withTasks = (dump: string) => `${dump}\n${tasksDump(['one'])}`;
const copied = (lines: string) => `create table tasks (id uuid, title text);\ncopy tasks from stdin;\n${lines}\\.\n`;
const taskLine = (title: string, n = 0) => `00000000-0000-7000-8000-${String(n).padStart(12, '0')}\t${title}\n`;
const own = () => ownArchive({ tasks: tasksDump(['one']), auth: accountsDump(['a@x']) });
const encrypted = async (plain: Buffer) => {
  const cipher = await createArchiveCipher({ identities: [KEY], recipients: [] });
  if (!cipher) throw new Error('no cipher');
  return buffer(await cipher.encrypt(Readable.from([plain])));
};

function withManifest(change: (manifest: Record<string, never>) => unknown, padTo = 0): Buffer {
  const files = own();
  const manifest = JSON.parse(files['manifest.json'] ?? '') as Record<string, never>;
  const text = JSON.stringify(change(manifest) ?? manifest);
  return zipped(entriesOf({ ...files, 'manifest.json': text.padEnd(padTo, ' ') }));
}

/** Adds names of missing tables to a manifest, as many and as long as it may contain. */
const manyTables = (manifest: Record<string, never>) => {
  const { stores } = manifest as unknown as { stores: Record<string, { rows: Record<string, number> }> };
  for (const store of Object.values(stores)) for (let n = 0; n < 999; n++) store.rows[`t${n}`.padEnd(63, 'x')] = 0;
};

/** Archives whose restore would cost a careless reader much memory. */
const HARD_ARCHIVES: HardArchive[] = [
  { what: 'a small one', bytes: async () => zipped(entriesOf(own())), isRestored: true },
  { what: 'a manifest at its limit', bytes: async () => withManifest(() => undefined, MIB / 4), isRestored: true },
  { what: 'a manifest of two thousand tables', bytes: async () => withManifest(manyTables, MIB), isRestored: false },
  {
    what: 'a manifest beyond its limit',
    bytes: async () => withManifest(() => undefined, 200 * MIB),
    isRestored: false,
  },
  {
    what: 'a manifest of nested lists',
    bytes: async () => zipped(entriesOf({ ...own(), 'manifest.json': '['.repeat(MIB - 1) })),
    isRestored: false,
  },
  {
    what: 'half a gigabyte of nothing',
    bytes: async () => zipped(entriesOf({ 'database.sql': Buffer.alloc(511 * MIB, '\n') })),
    isRestored: false,
  },
  {
    what: 'ten thousand entries with long names',
    bytes: async () =>
      zipped([...Array.from({ length: 9_900 }, (_, n) => [pax({ path: `${n}${'x'.repeat(240)}` }), { name: 'x' }]).flat(), { name: 'database.sql', content: tasksDump(['one']) }]), // prettier-ignore
    isRestored: true,
  },
  {
    what: 'a long extended header',
    bytes: async () => zipped([pax({ comment: 'x'.repeat(64 * MIB) }), { name: 'database.sql', content: tasksDump(['one']) }]), // prettier-ignore
    isRestored: true, // the header is not kept in memory
  },
  {
    what: 'rows as large as they may be',
    bytes: async () => zipped(entriesOf({ 'database.sql': copied([1, 2, 3].map((n) => taskLine('r'.repeat(63 * MIB), n)).join('')) })), // prettier-ignore
    isRestored: true,
  },
  {
    what: 'very many rows',
    bytes: async () => zipped(entriesOf({ 'database.sql': copied(Array.from({ length: 1_000_000 }, (_, n) => taskLine('the title of it', n)).join('')) })), // prettier-ignore
    isRestored: true,
  },
  {
    what: 'an encrypted one that does not compress',
    suffix: '.age',
    bytes: async () => encrypted(zipped(entriesOf({ 'database.sql': copied(Array.from({ length: 100 }, (_, n) => taskLine(randomBytes(MIB / 2).toString('hex'), n)).join('')) }))), // prettier-ignore
    isRestored: true,
  },
  {
    what: 'an encrypted one that asks for a password, and for all memory to check it',
    suffix: '.age',
    bytes: async () => Buffer.from(`age-encryption.org/v1\n-> scrypt ${'A'.repeat(22)} 30\n${'A'.repeat(43)}\n--- ${'A'.repeat(43)}\n`), // prettier-ignore
    isRestored: false,
  },
  ...HEAVY_DUMPS.map(([what, dump]) => ({
    what: `a dump: ${what}`,
    bytes: async () => zipped(entriesOf({ 'database.sql': withTasks(dump()) })),
    isRestored: !/many constants|operators|nesting|without an end/.test(what),
  })),
];

/** How much more memory the service and its children may use than when it is idle. */
const BOUND_MIB = 128;
const MEASURE_EVERY_MS = 5;

const RESTORE = 'mutation ($file: String!) { result: restoreBackup(file: $file) { message outcome } }';
const CREATE = 'mutation { result: createBackup { file } }';

/** One archive of each kind; a long run (npm run test:long) tries all of them. */
const QUICK = /^(a manifest at its limit|a dump: (one INSERT|deep|many tables|a line of COPY).*)$/;
const ARCHIVES = HARD_ARCHIVES.filter(({ what }) => process.env.TASKMESH_LONG || QUICK.test(what));

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
  const measure = () => (worstMib = Math.max(worstMib, privateMib(backup.pid)));
  const timer = setInterval(measure, MEASURE_EVERY_MS);
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

  it('is bounded while it archives the last restored data and a row of maximum size', async () => {
    await fixture.tasks.query(`insert into tasks values (gen_random_uuid(), repeat('wide', 15000000))`);
    expect(await ask(CREATE)).toEqual({ file: expect.stringMatching(/^taskmesh-/) });
  }, 600_000);
});
