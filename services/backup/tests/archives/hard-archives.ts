import { generateIdentity } from 'age-encryption';
import { randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import { createArchiveCipher } from '../../src/archives/encryption.ts';
import { HEAVY_DUMPS } from './heavy-dumps.ts';
import { accountsDump, ownArchive, tasksDump } from '../support/backup-fixture.ts';
import { pax, tar, type TarEntry } from './tar-bytes.ts';

const MIB = 1024 * 1024;

export interface HardArchive {
  what: string;
  suffix?: string;
  bytes: () => Promise<Buffer>;
  isRestored: boolean;
}

export const KEY = await generateIdentity();

const zipped = (entries: (TarEntry | Buffer)[]) => gzipSync(tar(entries), { level: 1 });
const entriesOf = (files: Record<string, string | Buffer>) =>
  Object.entries(files).map(([name, content]) => ({ name, content }));

/** A dump that restores, with something before its end that is hard. */
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

/** Names of tables that are not there, as many and as long as a manifest may name. */
const manyTables = (manifest: Record<string, never>) => {
  const { stores } = manifest as unknown as { stores: Record<string, { rows: Record<string, number> }> };
  for (const store of Object.values(stores)) for (let n = 0; n < 999; n++) store.rows[`t${n}`.padEnd(63, 'x')] = 0;
};

/** Whose restore would take much memory from a careless reader. */
export const HARD_ARCHIVES: HardArchive[] = [
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
    isRestored: true, // it is not kept
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
  {
    what: 'an encrypted one whose header has no end',
    suffix: '.age',
    bytes: async () => Buffer.from(`age-encryption.org/v1\n${`-> X25519 ${'A'.repeat(43)}\n${'A'.repeat(43)}\n`.repeat(MIB)}`), // prettier-ignore
    isRestored: false,
  },
  ...HEAVY_DUMPS.map(([what, dump]) => ({
    what: `a dump: ${what}`,
    bytes: async () => zipped(entriesOf({ 'database.sql': withTasks(dump()) })),
    isRestored: !/many constants|operators|nesting|without an end/.test(what),
  })),
];
