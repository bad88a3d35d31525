import { readTasksConfig, RELAY_BACKOFF } from './config.ts';

it('requires a database and keeps changes for a week by default', () => {
  const config = {
    postgresUrl: 'postgres://u:p@h/d',
    poolSize: 10,
    maxTasksPerOwner: 50_000,
    changeRetentionMs: 168 * 3_600_000,
    relay: RELAY_BACKOFF,
    schema: { migrates: true, acceptsNewer: false },
  };
  expect(readTasksConfig({ POSTGRES_URL: 'postgres://u:p@h/d' })).toEqual(config);
  const env = { POSTGRES_URL: 'postgres://u:p@h/d', CHANGE_RETENTION_HOURS: '0.5', MAX_TASKS_PER_OWNER: '4' };
  expect(readTasksConfig(env)).toEqual({ ...config, maxTasksPerOwner: 4, changeRetentionMs: 1_800_000 });
});
