import { gzipSync } from 'node:zlib';
import { longName, pax, tar, type TarEntry } from './tar-bytes.ts';

export interface ArchiveCase {
  what: string;
  bytes: () => Buffer;
}

const dump: TarEntry = { name: 'database.sql', content: 'select 1;\n' };
const gz = (entries: Parameters<typeof tar>[0]) => () => gzipSync(tar(entries));
const good = () => gzipSync(tar([dump]));

/** What is extracted, each with the files that must then be there. `out` is a folder outside that links could reach. */
export const HARMLESS: (ArchiveCase & { files: string[] })[] = [
  { what: 'a good archive', bytes: good, files: ['database.sql'] },
  { what: 'an archive without a dump', bytes: gz([{ name: 'notes.txt', content: 'x' }]), files: ['notes.txt'] },
  {
    what: 'a folder that is named database.sql',
    bytes: gz([{ name: 'database.sql/', type: '5' }]),
    files: ['database.sql'],
  },
  { what: 'a setuid file', bytes: gz([{ ...dump, mode: 0o6777 }]), files: ['database.sql'] },
  {
    what: 'a dump in a folder',
    bytes: gz([
      { name: 'backup/', type: '5' },
      { ...dump, name: 'backup/database.sql' },
    ]),
    files: ['backup', 'backup/database.sql'],
  },
  {
    what: 'names that begin with ./',
    bytes: gz([
      { name: './', type: '5' },
      { ...dump, name: './database.sql' },
    ]),
    files: ['database.sql'],
  },
  { what: 'a name in capitals', bytes: gz([{ ...dump, name: 'DATABASE.SQL' }]), files: ['DATABASE.SQL'] },
  { what: 'a PAX name of digits', bytes: gz([pax({ path: '12345' }), { name: 'x', content: 'x' }]), files: ['12345'] },
  { what: 'no end-of-archive blocks', bytes: () => gzipSync(tar([dump], { end: false })), files: ['database.sql'] },
  {
    what: 'two gzip members',
    bytes: () => Buffer.concat([gzipSync(tar([dump], { end: false })), gzipSync(tar([]))]),
    files: ['database.sql'],
  },
  {
    what: 'a huge PAX comment',
    bytes: gz([pax({ comment: 'x'.repeat(3 * 1024 * 1024) }), dump]),
    files: ['database.sql'],
  },
  { what: 'a file without permissions', bytes: gz([{ ...dump, mode: 0 }]), files: ['database.sql'] },
];

/** What is refused. `out` is an absolute path of a folder that must stay as it is. */
export const HOSTILE: (ArchiveCase | { what: string; bytes: (out: string) => Buffer })[] = [
  { what: 'a name that climbs out', bytes: gz([{ name: '../escape', content: 'x' }, dump]) },
  { what: 'a name that climbs out in the middle', bytes: gz([{ name: 'a/../../escape', content: 'x' }, dump]) },
  { what: 'an absolute name', bytes: (out: string) => gz([{ name: `${out}/escape`, content: 'x' }, dump])() },
  {
    what: 'a file through a link to an absolute folder',
    bytes: (out: string) => gz([{ name: 'l', type: '2', link: out }, { name: 'l/escape', content: 'x' }, dump])(),
  },
  { what: 'a link that climbs out', bytes: gz([{ name: 'l', type: '2', link: '../../out' }, dump]) },
  {
    what: 'a hard link to a file outside',
    bytes: (out: string) =>
      gz([
        { name: 'l', type: '1', link: `${out}/victim` },
        { name: 'l', content: 'x' },
      ])(),
  },
  { what: 'a hard link that climbs out', bytes: gz([{ name: 'l', type: '1', link: '../../victim' }, dump]) },
  {
    what: 'a dump that is a symbolic link',
    bytes: (out: string) => gz([{ name: 'database.sql', type: '2', link: `${out}/victim` }])(),
  },
  {
    what: 'a dump that is a hard link',
    bytes: (out: string) => gz([{ name: 'database.sql', type: '1', link: `${out}/victim` }])(),
  },
  { what: 'a dump that is a pipe', bytes: gz([{ name: 'database.sql', type: '6' }]) },
  { what: 'a character device', bytes: gz([{ name: 'tty', type: '3' }, dump]) },
  { what: 'a block device', bytes: gz([{ name: 'disk', type: '4' }, dump]) },
  { what: 'two dumps', bytes: gz([dump, dump]) },
  { what: 'two dumps whose names differ in spelling only', bytes: gz([dump, { ...dump, name: './/database.sql' }]) },
  { what: 'two dumps whose names differ in case only', bytes: gz([dump, { ...dump, name: 'Database.SQL' }]) },
  {
    what: 'two names that are one where file systems normalize letters',
    bytes: gz([
      { name: 'caf\u00e9', content: 'x' },
      { name: 'cafe\u0301', content: 'x' },
    ]),
  },
  {
    what: 'two names that are one where file systems take look-alikes together',
    bytes: gz([
      { name: 'a', content: 'x' },
      { name: '\uff41', content: 'x' },
    ]),
  },
  {
    what: 'a folder, then a file of its name',
    bytes: gz([{ name: 'a/', type: '5' }, { name: 'a', content: 'x' }, dump]),
  },
  { what: 'a PAX name that climbs out', bytes: gz([pax({ path: '../escape' }), { name: 'a', content: 'x' }]) },
  {
    what: 'a PAX size that hides an entry',
    bytes: gz([pax({ size: '0' }), { name: 'a', content: 'x'.repeat(700) }, dump]),
  },
  {
    what: 'a PAX link target',
    bytes: (out: string) => gz([pax({ linkpath: out }), { name: 'l', type: '2', link: 'a' }])(),
  },
  { what: 'a name with backslashes', bytes: gz([{ name: '..\\..\\x', content: 'x' }]) },
  { what: 'a name with a drive', bytes: gz([{ name: 'C:/x', content: 'x' }]) },
  { what: 'a very deep path', bytes: gz([longName(`${'d/'.repeat(500)}x`), { name: 'x', content: 'x' }]) },
  { what: 'a path beyond the depth', bytes: gz([{ name: `${'d/'.repeat(33)}x`, content: 'x' }]) },
  { what: 'a very long name', bytes: gz([longName('n'.repeat(5_000)), { name: 'x', content: 'x' }]) },
  {
    what: 'a name that the file system cannot take',
    bytes: gz([longName('n'.repeat(600)), { name: 'x', content: 'x' }]),
  },
  { what: 'a tar without gzip', bytes: () => tar([dump]) },
  { what: 'random bytes', bytes: () => Buffer.from('7f3a91c4'.repeat(300), 'hex') },
  { what: 'nothing at all', bytes: () => Buffer.alloc(0) },
  { what: 'gzip of a text', bytes: () => gzipSync('hello '.repeat(1_000)) },
  { what: 'gzip of nothing', bytes: () => gzipSync('') },
  { what: 'an archive without entries', bytes: gz([]) },
  {
    what: 'a gzip that ends early',
    bytes: () => gzipSync(tar([dump, { name: 'more', content: 'abc'.repeat(9_999) }])).subarray(0, -30),
  },
  { what: 'a wrong checksum of the gzip', bytes: () => flip(good(), -8) },
  {
    what: 'a tar that ends early',
    bytes: () => gzipSync(tar([{ name: 'database.sql', content: 'x'.repeat(5_000) }]).subarray(0, 3_000)),
  },
  {
    what: 'a broken header in the middle',
    bytes: gz([dump, { name: 'b', content: 'x', badChecksum: true }, { name: 'c', content: 'x' }]),
  },
  { what: 'garbage behind the gzip', bytes: () => Buffer.concat([good(), Buffer.from('garbage')]) },
  { what: 'a negative size', bytes: gz([{ name: 'a', size: Buffer.alloc(12, 0xff) }, dump]) },
  {
    what: 'a size beyond all disks',
    bytes: gz([{ name: 'a', size: Buffer.from('800000004000000000000000', 'hex') }, dump]),
  },
  { what: 'a sparse file', bytes: gz([{ name: 'database.sql', type: 'S', size: 0 }]) },
  { what: 'a sparse file beside a dump', bytes: gz([{ name: 'hole', type: 'S', size: 0 }, dump]) },
  {
    what: 'links that lead through one another',
    bytes: gz([
      { name: 'a/', type: '5' },
      { name: 'a/b', type: '2', link: '..' },
      { name: 'a/b/c', type: '2', link: '..' },
      dump,
    ]),
  },
  {
    what: 'a hard link through a symbolic one',
    bytes: (out: string) =>
      gz([
        { name: 's', type: '2', link: out },
        { name: 'h', type: '1', link: 's/victim' },
      ])(),
  },
  { what: 'a line end in a name', bytes: gz([{ name: 'a\nfake log line', content: 'x' }, dump]) },
  { what: 'an escape sequence in a name', bytes: gz([{ name: 'a\u001b[2J', content: 'x' }, dump]) },
  { what: 'a bzip2 file', bytes: () => Buffer.from('425a683931415926535900000000', 'hex') },
  { what: 'an xz file', bytes: () => Buffer.from('fd377a585a000004e6d6b446', 'hex') },
  { what: 'a zip file', bytes: () => Buffer.from('504b0304140000000000', 'hex') },
];

function flip(bytes: Buffer, at: number): Buffer {
  const index = bytes.length + at;
  bytes.writeUInt8(bytes.readUInt8(index) ^ 0xff, index);
  return bytes;
}
