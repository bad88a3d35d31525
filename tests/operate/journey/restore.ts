import { eventually, makeTempDir } from '@taskmesh/testing';
import { openRaw } from '@taskmesh/testing/raw';
import { execFileSync } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { createGraphql, createRest, readCursor, register } from '../../http.ts';
import { subscribe } from '../../feed/streams/protocols.ts';

const RESTORED = { success: true, message: 'Database restored; the application may need a restart.' };

/**
 * How operators use archives: the ten rules of the interface document, and the effects on users.
 * `isOfStores`: only the tests that depend on PostgreSQL.
 */
export function describeRestore(platform: () => { urls: string[]; backupsDir: string }, { isOfStores = false } = {}) {
  const url = () => platform().urls[0] ?? '';
  const rest = createRest(url);
  const restore = (query: string, headers: Record<string, string> = {}) =>
    rest('POST', `/backup/restore${query}`, { headers });

  /** Makes a gzip-compressed tar of these files with a standard tool. */
  const archive = (name: string, files: Record<string, string>) => {
    const folder = makeTempDir();
    for (const [file, text] of Object.entries(files)) writeFileSync(join(folder, file), text);
    mkdirSync(platform().backupsDir, { recursive: true });
    execFileSync('tar', ['-czf', join(platform().backupsDir, name), '-C', folder, ...Object.keys(files)]);
  };

  const dump = (rows: string[]) => `
    create table public.tasks (
      id uuid primary key, user_id uuid not null, title varchar(255) not null, description text, completed boolean not null,
      due_date timestamptz, category text, priority text not null, created_at timestamptz not null, updated_at timestamptz not null);
    copy public.tasks (id, user_id, title, description, completed, due_date, category, priority, created_at, updated_at) from stdin;
${rows.join('\n')}
\\.
`;
  const row = (userId: string, title: string) =>
    `${randomUUID()}\t${userId}\t${title}\t\\N\tf\t\\N\told\thigh\t2026-01-01 00:00:00+00\t2026-01-02 00:00:00+00`;

  it('replaces the tasks with the dump; accounts and tokens stay valid, feeds begin again', async () => {
    const owner = await register(url());
    await owner.create('made after the backup');
    const cursor = await readCursor(url(), owner.token);
    const subscriber = await subscribe(platform().urls, owner.token, cursor);
    const rows = [row(owner.id, 'from the backup'), row(randomUUID(), 'of somebody else')];
    archive('good.tar.gz', { 'database.sql': dump(rows) });
    const { status, body } = await restore('?file=good.tar.gz');
    expect([status, body]).toEqual([200, RESTORED]);

    await eventually(async () => expect(await owner.titles()).toEqual(['from the backup']));
    await eventually(() => expect(subscriber.failures).toContain('the feed began again')); // CURSOR_EXPIRED
    await subscriber.close();
    const next = await readCursor(url(), owner.token);
    expect(next).not.toBe(cursor);
    const again = await subscribe(platform().urls, owner.token, next);
    await owner.create('made after the restore');
    const first = [{ sequence: 1, task: { title: 'made after the restore' } }];
    await eventually(() => expect(again.changes()).toMatchObject(first));
    await again.close();
  });

  it('makes a backup of a running platform, and restores it', async () => {
    const owner = await register(url());
    const { token } = owner;
    const graphql = createGraphql(url());
    for (let count = 1; count <= 25; count++)
      await owner.create(`task ${count}`, { description: 'tab\tline\nback\\slash' });
    const read = async () => (await rest('GET', '/tasks?sortBy=created_at&order=asc', { token })).body['data'];
    const before = await read();

    const made = await graphql<{ createBackup: { file: string; stores: string[]; sha256: string } }>(
      'mutation { createBackup { file stores sha256 sizeBytes createdAt } }',
    );
    expect(made.errors).toBeUndefined();
    const { file } = made.data.createBackup;
    expect(made.data.createBackup).toMatchObject({ stores: ['tasks', 'auth'], sha256: expect.any(String) });
    const listed = await graphql<{ backups: { file: string }[] }>('{ backups { file } }');
    expect(listed.data.backups.map((backup) => backup.file)).toContain(file);
    const asUser = await graphql('mutation { createBackup { file } }', { token });
    expect(asUser.errors?.[0]?.extensions.code).toBe('FORBIDDEN');

    await owner.create('made after the backup');
    const later = await register(url());
    const { status, body } = await restore(`?file=${file}`);
    expect([status, body]).toEqual([200, expect.objectContaining(RESTORED)]);
    await eventually(async () => expect(await read()).toEqual(before));
    // Accounts created after the backup are gone, with their sessions.
    await eventually(async () => expect((await rest('GET', '/tasks', { token: later.token })).status).toBe(401));
    expect((await graphql(`mutation { deleteBackup(file: "${file}") }`)).data).toEqual({ deleteBackup: true });
  });

  if (isOfStores) return;

  it('responds to unrestorable requests as the rules say', async () => {
    mkdirSync(platform().backupsDir, { recursive: true });
    writeFileSync(join(platform().backupsDir, 'no-archive.tar.gz'), 'nonsense');
    symlinkSync('/etc/passwd', join(platform().backupsDir, 'link.tar.gz'));
    for (const [query, status] of [
      ['', 400],
      ['?file=', 400],
      ['?file[]=x', 400],
      ['?file=a&file=b', 400],
      ['?file=../x', 403],
      ['?file=..%2f..%2fetc%2fpasswd', 403],
      ['?file=/etc/passwd', 403],
      ['?file=link.tar.gz', 403],
      ['?file=missing.tar.gz', 404],
      ['?file=a%00b', 404],
      ['?file=.', 404],
      ['?file=no-archive.tar.gz', 500],
    ] as const) {
      const response = await restore(query);
      expect({ query, status: response.status }).toEqual({ query, status });
      expect(response.body).toEqual({ success: false, message: expect.any(String), error: expect.any(String) });
    }
    expect((await rest('GET', '/backup/restore')).status).toBe(405);
    expect((await restore('?file=missing.tar.gz', { origin: 'https://evil.example' })).status).toBe(403);
  });

  it('keeps nothing of an upload whose client disconnects', async () => {
    const sent = gzipSync(randomBytes(100_000));
    const head = `PUT /api/backups/half.tar.gz HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${2 * sent.length}\r\n\r\n`;
    const socket = await openRaw(url(), Buffer.concat([Buffer.from(head), sent]));
    const unfinished = () => readdirSync(platform().backupsDir).filter((name) => name.startsWith('.'));
    await eventually(() => expect(unfinished()).toHaveLength(1));
    socket.destroy();
    await eventually(() => expect(unfinished()).toHaveLength(0));
  });
}
