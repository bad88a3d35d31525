import { ConfigError } from '@taskmesh/service';
import { readTasksConfig, RELAY_BACKOFF } from './config.ts';

it('needs a database, and keeps changes for a week unless told otherwise', () => {
  const config = {
    postgresUrl: 'postgres://u:p@h/d',
    poolSize: 10,
    maxTasksPerOwner: 50_000,
    changeRetentionMs: 168 * 3_600_000,
    relay: RELAY_BACKOFF,
    schema: { migrates: true, acceptsNewer: false },
  };
  expect(readTasksConfig({ POSTGRES_URL: 'postgres://u:p@h/d' })).toEqual(config);
  expect(
    readTasksConfig({ POSTGRES_URL: 'postgres://u:p@h/d', CHANGE_RETENTION_HOURS: '0.5', POSTGRES_POOL_SIZE: '4' }),
  ).toEqual({ ...config, poolSize: 4, changeRetentionMs: 1_800_000 });
});

it('tells everything that is wrong at once', () => {
  const env = { POSTGRES_URL: 'mysql://u:p@h/d', CHANGE_RETENTION_HOURS: '-1', POSTGRES_POOL_SIZE: 'many' };
  const problems = (() => {
    try {
      readTasksConfig(env);
    } catch (error) {
      if (error instanceof ConfigError) return error.problems;
    }
    return [];
  })();
  expect(problems.map((problem) => problem.split(' ')[0]).toSorted()).toEqual(Object.keys(env).toSorted());
  expect(problems.join()).not.toContain('u:p@h');
});
