import { makeTempDir } from '@taskmesh/testing';
import { open, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { checkFrame } from './load-dump.ts';

const HEAD = '--\n-- PostgreSQL database dump\n--\n';
const TAIL = '-- PostgreSQL database dump complete\n';
const LONG = 'select 1;\n'.repeat(1_000);

const dir = makeTempDir();

async function check(text: string): Promise<void> {
  const path = join(dir, 'database.sql');
  await writeFile(path, text);
  await using file = await open(path);
  await checkFrame(file);
}

describe('the frame check of a dump', () => {
  it.each([
    ['a dump of pg_dump', HEAD + LONG + TAIL],
    ['a short dump', HEAD + TAIL],
    ['a dump with CRLF line ends', (HEAD + LONG + TAIL).replaceAll('\n', '\r\n')],
    ['a dump after a byte order mark and blank lines', `\ufeff\n \n${HEAD}${TAIL}`],
    ['a dump with text after its end', `${HEAD}${LONG}${TAIL}\n\\unrestrict abc\n`],
    ['a handwritten dump', LONG],
    ['a handwritten dump that only mentions pg_dump', `select 1; ${HEAD}`],
    ['an empty dump', ''],
    ['a dump that mentions the custom format', '-- PGDMP\n'],
  ])('accepts %s', async (_what, text) => {
    await expect(check(text)).resolves.toBeUndefined();
  });

  it.each([
    ['without its last line', HEAD + LONG],
    ['with a truncated last line', HEAD + TAIL.slice(0, -5)],
    ['with the end marker inside a line', `${HEAD}x ${TAIL}`],
    ['with text after the end marker', `${HEAD}${TAIL.trim()} of this\n`],
    ['with the end marker far from its end', HEAD + TAIL + LONG],
    ['after a byte order mark', `\ufeff${HEAD}`],
    ['with CRLF line ends', HEAD.replaceAll('\n', '\r\n')],
  ])('rejects a dump of pg_dump %s', async (_what, text) => {
    await expect(check(text)).rejects.toThrow('not complete');
  });

  it('rejects the custom format', async () => {
    await expect(check('PGDMP\x01')).rejects.toThrow('custom format');
  });
});
