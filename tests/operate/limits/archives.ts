import { gzipSync } from 'node:zlib';
import { MIB, type Case } from './case.ts';

const BLOCK = 512;
const TABLE = 'create table tasks (id uuid, title text);\n';

/** Returns an entry of a tar archive. `size` may exceed `content`, if the caller appends the rest. */
function entry(name: string, content = '', size = Buffer.byteLength(content)): Buffer {
  const bytes = Buffer.alloc(BLOCK + Math.ceil(content.length / BLOCK) * BLOCK);
  const fields = { 0: name, 100: '0000644', 124: size.toString(8).padStart(11, '0'), 148: ' '.repeat(8), 156: '0' };
  for (const [at, text] of Object.entries(fields)) bytes.write(text, Number(at));
  bytes.write('ustar\u000000', 257);
  const sum = bytes.subarray(0, BLOCK).reduce((total, byte) => total + byte, 0);
  bytes.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  bytes.write(content, BLOCK);
  return bytes;
}

const dump = (content: string) => entry('database.sql', content);
const archiveOf = (...entries: Buffer[]) => gzipSync(Buffer.concat([...entries, Buffer.alloc(2 * BLOCK)]));

/** An archive that an operator uploads and tries to restore. */
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

const TOO_LARGE = '201 409 The archive cannot be verified here: The archive expands to more than 536870912 bytes';
const [BEGUN, ZEROS] = [gzipSync(entry('database.sql', '', 1_024 * MIB)), gzipSync(Buffer.alloc(MIB))];
const UNFIT = '201 409 The archive is not fit for a restore:';

export const archives: readonly Case[] = [
  archive('a gigabyte of zeros', TOO_LARGE, () => Buffer.concat([BEGUN, ...Array<Buffer>(1_024).fill(ZEROS)])),
  archive('9,900 entries', `${UNFIT} The table tasks lacks columns: user_id`, () =>
    archiveOf(...Array.from({ length: 9_900 }, (_, at) => entry(`${at}${'x'.repeat(90)}`)), dump(TABLE)),
  ),
  archive('a statement of brackets in brackets', `${UNFIT} the dump was not accepted`, () =>
    archiveOf(dump(`${TABLE}insert into tasks values (${'('.repeat(65_000)});`)),
  ),
];
