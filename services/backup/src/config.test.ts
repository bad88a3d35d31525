import { makeTempDir } from '@taskmesh/testing';
import { chmod, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readBackupConfig } from './config.ts';

const ENV = {
  POSTGRES_URL: 'postgres://me@localhost/backup',
  TASKS_ADMIN_URL: 'postgres://me@localhost/tasks',
  AUTH_ADMIN_URL: 'postgres://me@localhost/auth',
  DATA_DIR: '/data',
};

const S3_URL = 's3://me:secret@archives?endpoint=http://127.0.0.1:9000';

describe('the configuration of backup', () => {
  it.each<[settings: Record<string, string | undefined>, expected: object]>([
    [{}, { backupsDir: '/data/backups', maxArchiveBytes: 2 ** 28, maxExpandedBytes: 2 ** 31, schedule: undefined, keep: undefined, mail: undefined }],
    [{ BACKUPS_DIR: '/mnt/archives', BACKUP_MAX_ARCHIVE_MB: '1' }, { backupsDir: '/mnt/archives', maxArchiveBytes: 2 ** 20, maxExpandedBytes: 2 ** 23 }],
    [{ BACKUP_SCHEDULE: '30 3 * * *' }, { schedule: '30 3 * * *', keep: undefined, verifiesScheduled: true }],
    [{ BACKUP_SCHEDULE: '30 3 * * *', BACKUP_KEEP: 'daily=7,weekly=4', BACKUP_VERIFY: 'false' }, { keep: { daily: 7, weekly: 4 }, verifiesScheduled: false }],
    // None of our keys opens these.
    [{ BACKUP_SCHEDULE: '0 3 * * *', BACKUP_RECIPIENTS: 'age1x, age1y' }, { recipients: ['age1x', 'age1y'], verifiesScheduled: false }],
    [{ BACKUP_MAIL_TO: 'a@x.org, b@x.org', BACKUP_WEBHOOK_URL: 'http://127.0.0.1:9000/hook', SMTP_URL: 'smtp://mail' }, {
      mail: { to: ['a@x.org', 'b@x.org'], from: 'Taskmesh <taskmesh@localhost>', dataDir: '/data' },
      secrets: { webhookUrl: 'http://127.0.0.1:9000/hook', smtpUrl: 'smtp://mail' } }],
    [{ BACKUP_S3_URL: S3_URL }, { secrets: { s3: { bucket: 'archives' }, keys: [] } }],
    // Replaced stores are kept for a day, or as long as configured. Safety backups are made only if they are not kept.
    ...([[undefined, 24], ['0', 0], ['0m', 0], ['30m', 0.5], ['2h', 2], ['7d', 168]] as const).map(
      ([text, hours]): [Record<string, string | undefined>, object] => [{ RESTORE_KEEP_OLD: text }, { keepOldMs: hours * 3_600_000, usesSafetyBackups: hours === 0 }]),
  ])('is read from %j', (settings, expected) => expect(readBackupConfig({ ...ENV, ...settings })).toMatchObject(expected)); // prettier-ignore

  it.each<[settings: Record<string, string>, message: string]>([
    [{ BACKUP_MAX_ARCHIVE_MB: '1.5' }, 'BACKUP_MAX_ARCHIVE_MB'],
    [{ MAIL_FROM: 'no one' }, 'MAIL_FROM must be like Tasks <tasks@example.com>'],
    [{ RESTORE_KEEP_OLD: '24' }, 'RESTORE_KEEP_OLD'],
    [{ RESTORE_KEEP_OLD: '-1h' }, 'RESTORE_KEEP_OLD'],
    [{ RESTORE_KEEP_OLD: '1w' }, 'RESTORE_KEEP_OLD'],
    [{ RESTORE_KEEP_OLD: '1.5h' }, 'RESTORE_KEEP_OLD'],
    [{ BACKUP_SCHEDULE: '61 * * * *' }, 'BACKUP_SCHEDULE must be a cron pattern'],
    [{ BACKUP_SCHEDULE: '0 0 31 2 *' }, 'BACKUP_SCHEDULE never comes'],
    [{ BACKUP_SCHEDULE: '0 3 * * *', BACKUP_KEEP: 'hourly=3' }, 'BACKUP_KEEP must be a number, or like'],
    [{ BACKUP_S3_URL: 's3://me:secret@' }, 'BACKUP_S3_URL must be like s3://bucket/prefix'],
    [{ BACKUP_KEEP: '7' }, 'set BACKUP_SCHEDULE as well'],
    [{ BACKUP_SCHEDULE: '0 3 * * *', BACKUP_VERIFY: 'maybe' }, 'BACKUP_VERIFY must be true or false'],
    [{ BACKUP_VERIFY_SCHEDULE: 'weekly' }, 'BACKUP_VERIFY_SCHEDULE must be a cron pattern'],
    [{ BACKUP_RECIPIENTS: ' , ' }, 'BACKUP_RECIPIENTS must name a recipient, or be empty'],
    [{ BACKUP_RECIPIENTS: 'age1x', BACKUP_VERIFY: 'true' }, 'BACKUP_VERIFY needs BACKUP_KEY_FILE: without a key'],
    [
      { BACKUP_RECIPIENTS: 'age1x', BACKUP_VERIFY_SCHEDULE: '0 5 * * 0' },
      'BACKUP_VERIFY_SCHEDULE needs BACKUP_KEY_FILE',
    ],
    [{ BACKUP_WEBHOOK_URL: 'ftp://example.com' }, 'BACKUP_WEBHOOK_URL must be a URL'],
    [{ BACKUP_WEBHOOK_URL: 'http://example.com/hook' }, 'BACKUP_WEBHOOK_URL must be a URL that starts with https://'],
    [{ BACKUP_MAIL_TO: ',' }, 'BACKUP_MAIL_TO must name somebody, or be empty'],
    [{ BACKUP_MAIL_TO: 'ops@example.com, no one' }, 'BACKUP_MAIL_TO must be addresses'],
  ])('refuses %j', (settings, message) => expect(() => readBackupConfig({ ...ENV, ...settings })).toThrow(message));

  describe('a key file', () => {
    const KEYS = ['AGE-SECRET-KEY-1QQQ', 'AGE-SECRET-KEY-PQ-1QQQ'];
    const dir = makeTempDir();
    const readKeys = async (text: string, mode: number) => {
      const path = join(dir, 'key.txt');
      await rm(path, { force: true });
      await writeFile(path, text);
      await chmod(path, mode);
      return readBackupConfig({ ...ENV, BACKUP_KEY_FILE: path }).secrets.keys;
    };

    it('has one key per line, and comments', async () => {
      const text = `# created: today\n# public key: age1qqq\n${KEYS[0]}\r\n\n${KEYS[1]}`;
      expect(await readKeys(text, 0o600)).toEqual(KEYS);
      expect(await readKeys(text, 0o440)).toEqual(KEYS);
    });

    it.each([
      ['# nothing', 0o600, 'age identities'],
      ['AGE-SECRET-KEY-1QQQ secret', 0o600, 'age identities'],
      ['AGE-SECRET-KEY-1QQQ', 0o644, 'chmod 600'],
    ])('with %j and the mode %o prevents the start, without revealing its content', async (text, mode, message) => {
      await expect(readKeys(text, mode)).rejects.toThrow(message);
      await expect(readKeys(text, mode)).rejects.not.toThrow(/QQQ/);
    });

    it('must exist; a key in place of its name is not shown', () => {
      const read = () => readBackupConfig({ ...ENV, BACKUP_KEY_FILE: KEYS[0], BACKUP_SCHEDULE: 'never' });
      expect(read).toThrow(/BACKUP_SCHEDULE[^]*BACKUP_KEY_FILE must name a readable file/);
      expect(read).not.toThrow(/QQQ/);
    });
  });

  it('never reveals the key of a bucket', () => {
    const read = () => readBackupConfig({ ...ENV, BACKUP_S3_URL: `${S3_URL}&x=1` });
    expect(read).toThrow('not shown');
    expect(read).not.toThrow(/:secret@archives/);
  });

  it('reports every problem at once', () => {
    expect(() => readBackupConfig({ RESTORE_DATABASE: 'users', TASKS_ADMIN_URL: 'postgres://me@localhost' })).toThrow(
      /POSTGRES_URL is needed[^]*RESTORE_DATABASE[^]*TASKS_ADMIN_URL[^]*name a database[^]*AUTH_ADMIN_URL/,
    );
  });
});
