import { createTestDatabase, type TestDatabase } from '@taskmesh/testing';
import { existsSync } from 'node:fs';
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createDumper } from '../../src/dump/dumper.ts';
import type { DumpPolicy } from '../../src/dump/dump-policy.ts';
import { openSnapshot } from '../../src/dump/snapshot.ts';
import { loadDump } from '../../src/loader/load-dump.ts';
import { createRecordingLog } from '../support/backup-fixture.ts';
import { createFreshTestDatabase } from '../support/restore-database.ts';
import { withClient } from '../support/with-client.ts';

const POLICY: DumpPolicy = {
  withoutRows: new Set(['sessions']),
  replaced: new Map([['state.secret', `'replaced'`]]),
};
const SCHEMA = `
  create table notes (id int primary key, text text);
  insert into notes select n, 'note ' || n from generate_series(1, 3) n;
  create table sessions (id int);
  insert into sessions values (1);
  create table state (epoch int, secret text);
  insert into state values (7, 'the secret');`;
/** What pg_dump makes of it: without the rows that it was told to leave out. */
const DUMP = `--
-- PostgreSQL database dump
--

\\restrict AbC123

SET client_encoding = 'UTF8';
SELECT pg_catalog.set_config('search_path', '', false);

CREATE TABLE public.notes (id integer NOT NULL, text text);
CREATE TABLE public.sessions (id integer);
CREATE TABLE public.state (epoch integer, secret text);

COPY public.notes (id, text) FROM stdin;
1\tnote 1
2\tnote 2
3\tnote 3
\\.

--
-- PostgreSQL database dump complete
--

\\unrestrict AbC123

`;

let dir: string;
let store: TestDatabase;
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'taskmesh-pg-dump-'));
  store = await createTestDatabase('pg_dump');
  await store.query(SCHEMA);
});
afterAll(async () => {
  await store.drop();
  await rm(dir, { recursive: true });
});
beforeEach(() => rm(join(dir, 'dump.sql'), { force: true }));

/** A program that says it is pg_dump of that version, notes how it was called, and runs `body`. */
async function program(version: string, body: string): Promise<string> {
  const path = join(dir, 'pg_dump');
  await writeFile(join(dir, 'dump.txt'), DUMP);
  await writeFile(
    path,
    `#!/bin/sh\nif [ "$1" = --version ]; then echo 'pg_dump (PostgreSQL) ${version}'; exit; fi\n
     printf '%s\\n' "$@" > ${dir}/called; env > ${dir}/env\n${body}\n`,
  );
  await chmod(path, 0o700);
  return path;
}

async function dumpWith(path: string, url = store.url) {
  const { log } = createRecordingLog();
  const dump = createDumper({ pgDump: { program: path, env: { PATH: process.env.PATH } }, log });
  const snapshot = await openSnapshot(store.url);
  try {
    return await snapshot.read((client) => dump({ client, url, path: join(dir, 'dump.sql'), policy: POLICY }));
  } finally {
    snapshot.close();
  }
}

const written = () => readFile(join(dir, 'dump.sql'), 'utf8');

describe('dumping with pg_dump', () => {
  it('gives the same as dumping without it: rows and versions, and what loads, less the secrets', async () => {
    const own = await dumpWith(join(dir, 'none'));
    expect(await written()).toContain('Dumped by Taskmesh');
    await rm(join(dir, 'dump.sql'));
    const made = await dumpWith(await program('99.1', `cat ${dir}/dump.txt`));
    expect(await written()).not.toContain('Dumped by Taskmesh');
    expect(made).toEqual({ ...own, sha256: expect.stringMatching(/^[0-9a-f]{64}$/), sizeBytes: expect.any(Number) });
    expect(made.rows).toEqual({ notes: 3, sessions: 0, state: 1 });

    const fresh = await createFreshTestDatabase('pg_dump_loaded');
    await loadDump({ path: join(dir, 'dump.sql'), url: fresh.loaderUrl, signal: AbortSignal.timeout(30_000) });
    const ask = (text: string) => withClient(fresh.adminUrl, async (client) => (await client.query(text)).rows);
    expect(await ask('select * from restored.notes order by id')).toHaveLength(3);
    expect(await ask('select * from restored.sessions')).toEqual([]);
    expect(await ask('select * from restored.state')).toEqual([{ epoch: 7, secret: 'replaced' }]);
    await fresh.drop();
  });

  it('happens at the moment of the snapshot, by a program that learns no more than it must', async () => {
    const url = new URL(store.url);
    url.password = 'pass word';
    await dumpWith(await program('99.1', `cat ${dir}/dump.txt`), url.href);
    const called = (await readFile(join(dir, 'called'), 'utf8')).split('\n');
    expect(called).toEqual(
      expect.arrayContaining([
        expect.stringMatching(/^--snapshot=[0-9A-F]+-[0-9A-F]+-\d+$/),
        '--no-owner',
        '--no-privileges',
        '--exclude-table-data=public."sessions"',
        '--exclude-table-data=public."state"',
      ]),
    );
    expect(called.join()).not.toMatch(/pass.{1,3}word/);
    const env = await readFile(join(dir, 'env'), 'utf8');
    expect(env).toContain('PGPASSWORD=pass word');
    expect(env).not.toContain('POSTGRES_URL');
  });

  it('is for servers that it knows', async () => {
    await dumpWith(await program('9.6.24', 'exit 1'));
    expect(await written()).toContain('Dumped by Taskmesh');
    await rm(join(dir, 'dump.sql'));
    await rm(join(dir, 'called'), { force: true });
    await dumpWith(await program('12.1', 'exit 1'));
    expect(await written()).toContain('Dumped by Taskmesh');
    expect(existsSync(join(dir, 'called'))).toBe(false);
  });

  it.each([
    ['fails', 'echo "it broke" >&2; exit 1'],
    ['ends too early', 'head -c 300 "$(dirname "$0")/dump.txt"'],
    ['fails after all', 'cat "$(dirname "$0")/dump.txt"; echo "it broke" >&2; exit 3'],
  ])('is no dump when the program %s', async (_what, body) => {
    await expect(dumpWith(await program('99.1', body))).rejects.toMatchObject({
      name: 'DumpError',
      message: expect.stringContaining('pg_dump failed'),
    });
  });

  it.each(['INT', 'TERM', 'KILL'])(
    'is none when SIG%s ends the program, which is not the fault of the store',
    async (signal) => {
      const path = await program('99.1', `head -c 300 "$(dirname "$0")/dump.txt"; kill -${signal} $$`);
      await expect(dumpWith(path)).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
    },
  );
});
