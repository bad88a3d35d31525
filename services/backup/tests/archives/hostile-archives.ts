import { gzipSync } from 'node:zlib';
import { longName, pax, tar, type TarEntry } from './tar-bytes.ts';

const file = (name: string, more: Partial<TarEntry> = {}): TarEntry => ({ name, content: 'x', ...more });
const folder = (name: string): TarEntry => ({ name, type: '5' });
const symbolic = (name: string, link: string): TarEntry => ({ name, type: '2', link });
const hard = (name: string, link: string): TarEntry => ({ name, type: '1', link });
const dump: TarEntry = { name: 'database.sql', content: 'select 1;\n' };
const gz = (...entries: Parameters<typeof tar>[0]) => gzipSync(tar(entries));

/** Archives that are extracted, each with the files that must exist afterwards. */
export const HARMLESS: [what: string, bytes: () => Buffer, files: string[]][] = [
  ['a good archive', () => gz(dump), ['database.sql']],
  ['an archive without entries', () => gz(), []],
  ['a folder that is named database.sql', () => gz(folder('database.sql/')), ['database.sql']],
  ['a setuid file', () => gz({ ...dump, mode: 0o6777 }), ['database.sql']],
  ['a dump in a folder', () => gz(folder('b/'), { ...dump, name: 'b/database.sql' }), ['b', 'b/database.sql']],
  ['names that begin with ./', () => gz(folder('./'), { ...dump, name: './database.sql' }), ['database.sql']],
  ['a PAX name of digits', () => gz(pax({ path: '12345' }), file('x')), ['12345']],
  ['no end-of-archive blocks', () => gzipSync(tar([dump], { end: false })), ['database.sql']],
  ['two gzip members', () => Buffer.concat([gzipSync(tar([dump], { end: false })), gz()]), ['database.sql']],
  ['a huge PAX comment', () => gz(pax({ comment: 'x'.repeat(3 * 1024 * 1024) }), dump), ['database.sql']],
  ['a file without permissions', () => gz({ ...dump, mode: 0 }), ['database.sql']],
];

/** Archives that are rejected. `out` is the absolute path of a folder that must not change. */
export const HOSTILE: [what: string, bytes: (out: string) => Buffer][] = [
  ['a name that climbs out', () => gz(file('../escape'), dump)],
  ['an absolute name', (out) => gz(file(`${out}/escape`), dump)],
  ['a file through a link to an absolute folder', (out) => gz(symbolic('l', out), file('l/escape'), dump)],
  ['a hard link to a file outside', (out) => gz(hard('l', `${out}/victim`), file('l'))],
  ['a dump that is a pipe', () => gz({ name: 'database.sql', type: '6' })],
  ['two dumps', () => gz(dump, dump)],
  ['two dumps whose names differ in spelling only', () => gz(dump, { ...dump, name: './/database.sql' })],
  ['two dumps whose names differ in case only', () => gz(dump, { ...dump, name: 'Database.SQL' })],
  ['two names that are equal on file systems that normalize letters', () => gz(file('caf\u00e9'), file('cafe\u0301'))],
  ['two names that are equal on file systems that merge look-alikes', () => gz(file('a'), file('\uff41'))],
  ['a folder, then a file of its name', () => gz(folder('a/'), file('a'), dump)],
  ['a PAX name that climbs out', () => gz(pax({ path: '../escape' }), file('a'))],
  ['a PAX size that hides an entry', () => gz(pax({ size: '0' }), file('a', { content: 'x'.repeat(700) }), dump)],
  ['a PAX link target', (out) => gz(pax({ linkpath: out }), symbolic('l', 'a'))],
  ['a name with backslashes', () => gz(file('..\\..\\x'))],
  ['a path beyond the depth', () => gz(file(`${'d/'.repeat(33)}x`))],
  ['a name that is too long for the file system', () => gz(longName('n'.repeat(600)), file('x'))],
  ['a tar without gzip', () => tar([dump])],
  ['nothing at all', () => Buffer.alloc(0)],
  ['gzip of a text', () => gzipSync('hello '.repeat(1_000))],
  ['a gzip that ends early', () => gz(dump, file('more', { content: 'abc'.repeat(9_999) })).subarray(0, -30)],
  ['a wrong checksum of the gzip', () => flip(gz(dump), -8)],
  ['a tar that ends early', () => gzipSync(tar([{ ...dump, content: 'x'.repeat(5_000) }]).subarray(0, 3_000))],
  ['a broken header in the middle', () => gz(dump, file('b', { badChecksum: true }), file('c'))],
  ['garbage after the gzip', () => Buffer.concat([gz(dump), Buffer.from('garbage')])],
  ['a negative size', () => gz({ name: 'a', size: Buffer.alloc(12, 0xff) }, dump)],
  ['a size beyond all disks', () => gz({ name: 'a', size: Buffer.from('800000004000000000000000', 'hex') }, dump)],
  ['a sparse file beside a dump', () => gz({ name: 'hole', type: 'S', size: 0 }, dump)],
  ['links that lead through one another', () => gz(folder('a/'), symbolic('a/b', '..'), symbolic('a/b/c', '..'), dump)],
];

function flip(bytes: Buffer, at: number): Buffer {
  const index = bytes.length + at;
  bytes.writeUInt8(bytes.readUInt8(index) ^ 0xff, index);
  return bytes;
}
