import { count, defineOptions, NAME, PUBLISH } from '../arguments.ts';

const ABOUT =
  'Measures backups and restores, compared with pg_dump | gzip and psql on the same data and server, in one run (about a minute).';

export const backupOptions = defineOptions('npm run bench -- backup', ABOUT, {
  rows: count('--rows <n>', 'tasks in the database', '100000', { max: 10_000_000 }),
  rounds: count('--rounds <n>', 'number of rounds; the median counts; with 1, there is no warm-up', '3'),
  name: NAME,
  publish: PUBLISH,
});
export type BackupBenchOptions = ReturnType<typeof backupOptions.read>;
