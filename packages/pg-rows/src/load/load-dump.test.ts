import { mkdtemp, open, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { checkFrame } from './load-dump.ts';

const HEAD = '--\n-- PostgreSQL database dump\n--\n';
const TAIL = '-- PostgreSQL database dump complete\n';
const LONG = 'select 1;\n'.repeat(1_000);

let dir: string;
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'taskmesh-frame-'));
});
afterAll(() => rm(dir, { recursive: true }));

async function check(text: string): Promise<void> {
  const path = join(dir, 'database.sql');
  await writeFile(path, text);
  await using file = await open(path);
  await checkFrame(file);
}

describe('the frame of a dump', () => {
  it.each([
    ['one of pg_dump', HEAD + LONG + TAIL],
    ['a short one', HEAD + TAIL],
    ['one with other line ends', (HEAD + LONG + TAIL).replaceAll('\n', '\r\n')],
    ['one behind a mark of its bytes and blank lines', `\ufeff\n \n${HEAD}${TAIL}`],
    ['one with something behind it', `${HEAD}${LONG}${TAIL}\n\\unrestrict abc\n`],
    ['one by hand', LONG],
    ['one by hand that only tells of pg_dump', `select 1; ${HEAD}`],
    ['an empty one', ''],
    ['one that tells of the custom format', '-- PGDMP\n'],
  ])('is whole: %s', async (_what, text) => {
    await expect(check(text)).resolves.toBeUndefined();
  });

  it.each([
    ['without its end', HEAD + LONG],
    ['without the end of its end', HEAD + TAIL.slice(0, -5)],
    ['with an end within a line', `${HEAD}x ${TAIL}`],
    ['with an end that goes on', `${HEAD}${TAIL.trim()} of this\n`],
    ['with an end far in front', HEAD + TAIL + LONG],
    ['behind a mark of its bytes', `\ufeff${HEAD}`],
    ['with other line ends', HEAD.replaceAll('\n', '\r\n')],
  ])('is broken: one of pg_dump %s', async (_what, text) => {
    await expect(check(text)).rejects.toThrow('not complete');
  });

  it('is of another format', async () => {
    await expect(check('PGDMP\x01')).rejects.toThrow('custom format');
  });
});
