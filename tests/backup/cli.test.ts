import { makeTempDir } from '@taskmesh/testing';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { useEmbedded } from '../embedded.ts';
import { register } from '../http.ts';

/** The service does not export its command line. */
interface CommandLine {
  runCommand(args: string[], more: object): Promise<{ status: number; out: string; err: string }>;
}
const COMMAND_LINE = new URL('../../services/backup/tests/support/command-line.ts', import.meta.url);
const { runCommand } = (await import(COMMAND_LINE.href)) as CommandLine;

describe('the command line for backups, next to a running platform', () => {
  const cwd = makeTempDir();
  const { dataDir, platform } = useEmbedded(() => ({ BACKUP_TOKEN: 'a-secret' }));

  const backup = (args: string[], more: Record<string, string> = {}) =>
    runCommand(args, { cwd, env: { TASKMESH_URL: platform().url, BACKUP_TOKEN: 'a-secret', ...more } });

  it('makes, lists, verifies, downloads, deletes, uploads and restores a backup', async () => {
    const { create, titles } = await register(platform().url);
    await create('in the backup');

    const made = await backup(['create', '--json']);
    expect(made).toMatchObject({ status: 0, err: '' });
    const { file, sizeBytes, sha256 } = JSON.parse(made.out);
    const listed = await backup(['list']);
    expect(listed.out).toMatch(/^file +size +made +origin +stores +verified\n/);
    expect(listed.out).toContain(`${file}  `);
    expect(listed.out).toMatch(/never\n$/);

    const verified = await backup(['verify', file]);
    expect(verified).toMatchObject({ status: 0, out: expect.stringContaining('can be restored') });
    expect(await titles()).toEqual(['in the backup']);
    expect(verified.err).toMatch(/extracting …\nloading tasks …\nchecking tasks …\n/);
    const verifiedAt = expect.any(String);
    expect(JSON.parse((await backup(['list', '--json'])).out)).toMatchObject([{ file, verifiedAt }]);

    expect((await backup(['download', file])).status).toBe(0);
    expect(readFileSync(join(cwd, file)).length).toBe(sizeBytes);
    expect(await backup(['download', file])).toMatchObject({ status: 2, err: expect.stringContaining('already') });
    expect((await backup(['delete', file, '--yes'])).status).toBe(0);
    expect((await backup(['list'])).out).toBe('There are no backups yet.\n');
    const brought = await backup(['upload', file, '--as', 'brought.tar.gz', '--json']);
    expect(JSON.parse(brought.out)).toMatchObject({ file: 'brought.tar.gz', sizeBytes, sha256 });

    await create('later');
    const tried = await backup(['restore', 'brought.tar.gz', '--dry-run']);
    expect(tried.status).toBe(0);
    for (const line of [
      'rows of tasks.tasks: 2 now, 1 after the restore: 1 would be deleted, 0 would come back\n',
      'accounts: 1 now, 1 after the restore: 0 would be deleted, 0 would come back; sessions that end: 0\n',
    ])
      expect(tried.out).toContain(line);
    expect(await titles()).toHaveLength(2);
    const restored = await backup(['restore', 'brought.tar.gz', '--yes']);
    expect(restored).toMatchObject({ status: 0, out: expect.stringMatching(/^Database restored\.\nUntil .* undo"/) });
    expect(restored.err).toContain('loading auth');
    expect(await titles()).toEqual(['in the backup']);

    const undone = expect.stringMatching(/^Undone: the restore of brought.tar.gz .* is kept until /);
    expect(await backup(['undo', '--yes'])).toMatchObject({ status: 0, out: undone });
    expect((await titles()).toSorted()).toEqual(['in the backup', 'later']);
    const begun = expect.stringContaining('has begun');
    expect(await backup(['new-epoch', '--yes'])).toMatchObject({ status: 0, out: begun });
  }, 180_000);

  it('reports failures, with an exit status per kind', async () => {
    writeFileSync(join(cwd, 'no-archive.tar.gz'), 'nonsense');
    for (const [args, env, status, message] of [
      [['verify', 'missing.tar.gz'], {}, 1, 'There is no such backup file.'],
      [['restore', 'missing.tar.gz', '--yes'], {}, 1, 'There is no such backup file.'],
      [['download', 'missing.tar.gz'], {}, 1, 'There is no such backup file.'],
      [['delete', 'missing.tar.gz', '--yes'], {}, 1, 'There is no such backup file.'],
      [['download', 'missing.tar.gz', '--to', 'no/such/folder'], {}, 2, 'There is no folder'],
      [['restore', '../outside.tar.gz', '--yes'], {}, 1, 'outside of the backups directory.\n'],
      [['upload', 'no-archive.tar.gz'], {}, 1, 'is not a gzip file'],
      [['upload', 'missing.tar.gz'], {}, 2, 'There is no file'],
      [['upload', 'no-archive.tar.gz', '--as', '../x.tar.gz'], {}, 1, 'name'],
      [['list'], { BACKUP_TOKEN: 'wrong' }, 1, 'BACKUP_TOKEN'],
      [['list'], { TASKMESH_URL: 'http://127.0.0.1:1' }, 3, 'Is Taskmesh running?'],
      [['nonsense'], {}, 2, 'There is no command "nonsense".'],
    ] as const) {
      const ran = await backup([...args], env);
      expect([args, ran.status]).toEqual([args, status]);
      expect(ran.err).toContain(message);
      expect(ran.err).not.toMatch(/\n\s+at /);
      expect(ran.out).toBe('');
    }
    expect(readdirSync(cwd).filter((name) => name.endsWith('.part'))).toEqual([]);
    expect(existsSync(join(dataDir, 'backups', 'no-archive.tar.gz'))).toBe(false);
  }, 180_000);
});
