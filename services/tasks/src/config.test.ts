import { readTasksConfig } from './config.ts';

it('keeps changes for a week, and 50,000 tasks of an owner, by default', () => {
  const defaults = { changeRetentionMs: 168 * 3_600_000, maxTasksPerOwner: 50_000 };
  expect(readTasksConfig({ POSTGRES_URL: 'postgres://u:p@h/d' })).toMatchObject(defaults);
});
