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

  it('reports every problem at once', () => {
    const read = () => readBackupConfig({ RESTORE_DATABASE: 'users', TASKS_ADMIN_URL: 'postgres://me@localhost' });
    expect(read).toThrow(
      /POSTGRES_URL is needed[^]*RESTORE_DATABASE[^]*TASKS_ADMIN_URL[^]*name a database[^]*AUTH_ADMIN_URL/,
    );
  });
});
