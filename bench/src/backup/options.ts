import { commonOptions, number, parseOptions } from '../arguments.ts';

export const BACKUP_HELP = `
npm run bench -- backup [<options>]
Measures backups and restores, compared with pg_dump | gzip and psql on the same data and server, in one run (about a minute).

  --rows <n>     tasks in the database (default 100000)
  --rounds <n>   number of rounds; the median counts (default 3); with 1, there is no warm-up
  --name <name>  name of the file in bench/results (default: the time)
  --publish      also write the table to bench/README.md
`;

export type BackupBenchOptions = ReturnType<typeof readBackupOptions>;

/** @throws UsageError */
export function readBackupOptions(args: string[]) {
  const values = parseOptions(args, { texts: ['rows', 'rounds', 'name'], flags: ['publish'] });
  return {
    rows: number('--rows', values.rows ?? '100000', { min: 1, max: 10_000_000, isWhole: true }),
    rounds: number('--rounds', values.rounds ?? '3', { min: 1, max: 100, isWhole: true }),
    ...commonOptions(values),
  };
}
