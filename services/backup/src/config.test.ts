import { readBackupConfig } from './config.ts';

const ENV = {
  POSTGRES_URL: 'postgres://me@localhost/backup',
  TASKS_ADMIN_URL: 'postgres://me@localhost/tasks',
  AUTH_ADMIN_URL: 'postgres://me@localhost/auth',
  DATA_DIR: '/data',
};

describe('readBackupConfig', () => {
  it('keeps archives in the data directory unless told otherwise', () => {
    expect(readBackupConfig(ENV).backupsDir).toBe('/data/backups');
    expect(readBackupConfig({ ...ENV, BACKUPS_DIR: '/mnt/archives' }).backupsDir).toBe('/mnt/archives');
  });

  it('takes archives up to 256 MiB, or what it is told', () => {
    expect(readBackupConfig(ENV)).toMatchObject({ maxArchiveBytes: 268_435_456, maxExpandedBytes: 536_870_912 });
    const larger = { BACKUP_MAX_ARCHIVE_MB: '1', BACKUP_MAX_EXPANDED_MB: '1024' };
    expect(readBackupConfig({ ...ENV, ...larger })).toMatchObject({
      maxArchiveBytes: 1_048_576,
      maxExpandedBytes: 1_073_741_824,
    });
    expect(() => readBackupConfig({ ...ENV, BACKUP_MAX_ARCHIVE_MB: '0' })).toThrow('BACKUP_MAX_ARCHIVE_MB');
    expect(() => readBackupConfig({ ...ENV, BACKUP_MAX_EXPANDED_MB: '1.5' })).toThrow('BACKUP_MAX_EXPANDED_MB');
  });

  it('reports every problem at once', () => {
    const read = () => readBackupConfig({ RESTORE_DATABASE: 'users', TASKS_ADMIN_URL: 'postgres://me@localhost' });
    expect(read).toThrow(
      /POSTGRES_URL is needed[^]*RESTORE_DATABASE[^]*TASKS_ADMIN_URL[^]*name a database[^]*AUTH_ADMIN_URL/,
    );
  });
});
