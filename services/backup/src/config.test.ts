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

describe('the configuration of backup', () => {
  it('keeps archives in the data directory by default', () => {
    expect(readBackupConfig(ENV).backupsDir).toBe('/data/backups');
    expect(readBackupConfig({ ...ENV, BACKUPS_DIR: '/mnt/archives' }).backupsDir).toBe('/mnt/archives');
  });

  it('accepts archives up to 256 MiB, or the configured size', () => {
    expect(readBackupConfig(ENV)).toMatchObject({ maxArchiveBytes: 268_435_456, maxExpandedBytes: 2_147_483_648 });
    expect(readBackupConfig({ ...ENV, BACKUP_MAX_ARCHIVE_MB: '1' })).toMatchObject({
      maxArchiveBytes: 1_048_576,
      maxExpandedBytes: 8_388_608,
    });
    expect(() => readBackupConfig({ ...ENV, BACKUP_MAX_ARCHIVE_MB: '1.5' })).toThrow('BACKUP_MAX_ARCHIVE_MB');
  });

  it('makes archives on schedule if there is one, and keeps all by default', () => {
    expect(readBackupConfig(ENV)).toMatchObject({ schedule: undefined, keep: undefined });
    const scheduled = { ...ENV, BACKUP_SCHEDULE: '30 3 * * *' };
    expect(readBackupConfig(scheduled)).toMatchObject({
      schedule: '30 3 * * *',
      keep: undefined,
      verifiesScheduled: true,
    });
    const kept = { ...scheduled, BACKUP_KEEP: 'daily=7,weekly=4', BACKUP_VERIFY: 'false' };
    expect(readBackupConfig(kept)).toMatchObject({ keep: { daily: 7, weekly: 4 }, verifiesScheduled: false });
  });

  it.each([
    [{ BACKUP_SCHEDULE: '61 * * * *' }, 'BACKUP_SCHEDULE must be a cron pattern'],
    [{ BACKUP_SCHEDULE: '0 0 31 2 *' }, 'BACKUP_SCHEDULE never comes'],
    [{ BACKUP_SCHEDULE: '0 3 * * *', BACKUP_KEEP: 'hourly=3' }, 'BACKUP_KEEP must be a number, or like'],
    [{ BACKUP_S3_URL: 's3://me:secret@' }, 'BACKUP_S3_URL must be like s3://bucket/prefix'],
    [{ BACKUP_KEEP: '7' }, 'set BACKUP_SCHEDULE as well'],
    [{ BACKUP_SCHEDULE: '0 3 * * *', BACKUP_VERIFY: 'maybe' }, 'BACKUP_VERIFY must be true or false'],
    [{ BACKUP_VERIFY_SCHEDULE: 'weekly' }, 'BACKUP_VERIFY_SCHEDULE must be a cron pattern'],
    [{ BACKUP_RECIPIENTS: ' , ' }, 'BACKUP_RECIPIENTS must name a recipient, or be empty'],
    [{ BACKUP_RECIPIENTS: 'age1x', BACKUP_VERIFY: 'true' }, 'BACKUP_VERIFY cannot be: without BACKUP_KEY_FILE'],
    [{ BACKUP_RECIPIENTS: 'age1x', BACKUP_VERIFY_SCHEDULE: '0 5 * * 0' }, 'BACKUP_VERIFY_SCHEDULE cannot be'],
    [{ BACKUP_WEBHOOK_URL: 'ftp://example.com' }, 'BACKUP_WEBHOOK_URL must be a URL'],
    [{ BACKUP_WEBHOOK_URL: 'http://example.com/hook' }, 'BACKUP_WEBHOOK_URL must be a URL that starts with https://'],
    [{ BACKUP_WEBHOOK_URL: 'nowhere' }, 'BACKUP_WEBHOOK_URL must be a URL'],
    [{ BACKUP_MAIL_TO: ',' }, 'BACKUP_MAIL_TO must name somebody, or be empty'],
    [{ BACKUP_MAIL_TO: 'ops@example.com, no one' }, 'BACKUP_MAIL_TO must be addresses'],
  ])('refuses %j', (settings, message) => {
    expect(() => readBackupConfig({ ...ENV, ...settings })).toThrow(message);
  });

  it('contains the recipients of notices by webhook and by mail', () => {
    expect(readBackupConfig(ENV).mail).toBeUndefined();
    const channels = { BACKUP_MAIL_TO: 'a@x.org, b@x.org', BACKUP_WEBHOOK_URL: 'http://127.0.0.1:9000/hook', SMTP_URL: 'smtp://mail' };
    expect(readBackupConfig({ ...ENV, ...channels })).toMatchObject({
      mail: { to: ['a@x.org', 'b@x.org'], from: 'Taskmesh <taskmesh@localhost>', dataDir: '/data' },
      secrets: { webhookUrl: 'http://127.0.0.1:9000/hook', smtpUrl: 'smtp://mail' },
    });
  }); // prettier-ignore

  it('does not verify archives that none of our keys opens', () => {
    const config = readBackupConfig({ ...ENV, BACKUP_SCHEDULE: '0 3 * * *', BACKUP_RECIPIENTS: 'age1x, age1y' });
    expect(config).toMatchObject({ recipients: ['age1x', 'age1y'], verifiesScheduled: false });
  });

  it('requires a valid sender of mails', () => {
    const read = () => readBackupConfig({ ...ENV, MAIL_FROM: 'no one' });
    expect(read).toThrow('MAIL_FROM must be like Tasks <tasks@example.com>');
  });

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
      expect(readBackupConfig(ENV).secrets.keys).toEqual([]);
    });

    it.each([
      ['# nothing', 0o600, 'age identities'],
      ['age1qqq', 0o600, 'age identities'],
      ['AGE-SECRET-KEY-1QQQ secret', 0o600, 'age identities'],
      ['AGE-SECRET-KEY-1QQQ', 0o644, 'chmod 600'],
      ['AGE-SECRET-KEY-1QQQ', 0o620, 'chmod 600'],
    ])('with %j and the mode %o prevents the start, without revealing its content', async (text, mode, message) => {
      await expect(readKeys(text, mode)).rejects.toThrow(message);
      await expect(readKeys(text, mode)).rejects.not.toThrow(/QQQ/);
    });

    it('must exist', () => {
      const read = () => readBackupConfig({ ...ENV, BACKUP_KEY_FILE: '/none', BACKUP_SCHEDULE: 'never' });
      expect(read).toThrow(/BACKUP_SCHEDULE[^]*BACKUP_KEY_FILE must name a readable file/);
    });
  });

  it('keeps replaced stores for a day, or as long as configured', () => {
    const keepOldMs = (text?: string) => readBackupConfig({ ...ENV, RESTORE_KEEP_OLD: text }).keepOldMs;
    expect([undefined, '0', '30m', '2h', '7d'].map(keepOldMs)).toEqual([24, 0, 0.5, 2, 168].map((h) => h * 3_600_000));
    for (const wrong of ['24', '-1h', '1w', '1.5h']) expect(() => keepOldMs(wrong)).toThrow('RESTORE_KEEP_OLD');
  });

  it('makes safety backups only if replaced stores are not kept', () => {
    const uses = (text?: string) => readBackupConfig({ ...ENV, RESTORE_KEEP_OLD: text }).usesSafetyBackups;
    expect([undefined, '0', '0m', '24h'].map(uses)).toEqual([false, true, true, false]);
  });

  it('stores archives in a bucket if one is configured, and never reveals its key', () => {
    const url = 's3://me:secret@archives?endpoint=http://127.0.0.1:9000';
    expect(readBackupConfig({ ...ENV, BACKUP_S3_URL: url }).secrets.s3).toMatchObject({ bucket: 'archives' });
    const read = () => readBackupConfig({ ...ENV, BACKUP_S3_URL: `${url}&x=1` });
    expect(read).toThrow('not shown');
    expect(read).not.toThrow(/:secret@archives/);
  });

  it('reports every problem at once', () => {
    const read = () => readBackupConfig({ RESTORE_DATABASE: 'users', TASKS_ADMIN_URL: 'postgres://me@localhost' });
    expect(read).toThrow(
      /POSTGRES_URL is needed[^]*RESTORE_DATABASE[^]*TASKS_ADMIN_URL[^]*name a database[^]*AUTH_ADMIN_URL/,
    );
  });
});
