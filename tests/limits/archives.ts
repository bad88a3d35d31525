import { gzipSync } from 'node:zlib';
import { pax, tar, type TarEntry } from '../../services/backup/tests/archives/tar-bytes.ts';
import type { Case } from './cases.ts';

const MIB = 2 ** 20;
const TABLE = 'create table tasks (id uuid, title text);\n';
const dump = (content: string): TarEntry => ({ name: 'database.sql', content });

/** An archive that an operator uploads, and tries to restore. */
function archive(name: string, outcome: string, bytes: () => Buffer): Case {
  return {
    ...{ kind: 'archive', name, by: 'operator', outcome },
    async send({ send }, _account, turn) {
      const file = `limits-${turn}.tar.gz`;
      const headers = { 'content-type': 'application/gzip' };
      const uploaded = await send(`/api/backups/${file}`, { method: 'PUT', headers, body: bytes() });
      const tried = await send(`/api/backup/dry-run?file=${file}`, { method: 'POST' });
      await send(`/api/backups/${file}`, { method: 'DELETE' });
      return `${uploaded.status} ${tried.status} ${/"error":"([^".,]*)/.exec(tried.body)?.[1] ?? ''}`;
    },
  };
}

const UNFIT = '201 409 The archive is not fit for a restore:';

export const archives: readonly Case[] = [
  archive(
    'a gigabyte of zeros',
    '201 409 The archive cannot be proved here: The archive expands to more than 536870912 bytes',
    () => {
      const begin = gzipSync(tar([{ name: 'database.sql', size: 1_024 * MIB }], { end: false }));
      return Buffer.concat([begin, ...Array<Buffer>(1_024).fill(gzipSync(Buffer.alloc(MIB)))]);
    },
  ),
  archive('9,900 entries with long names', `${UNFIT} The table tasks is without user_id`, () => {
    const entries = Array.from({ length: 9_900 }, (_, at) => [pax({ path: `${at}${'x'.repeat(240)}` }), { name: 'x' }]);
    return gzipSync(tar([...entries.flat(), dump(TABLE)]));
  }),
  archive('a statement of brackets in brackets', `${UNFIT} the dump was not accepted`, () =>
    gzipSync(tar([dump(`${TABLE}insert into tasks values (${'('.repeat(65_000)});`)])),
  ),
];
