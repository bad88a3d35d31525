import { parseArgs } from 'node:util';
import { UsageProblem } from '../options.ts';

export const BACKUP_HELP = `
npm run bench -- backup [<options>]
What backups and restores cost, beside pg_dump | gzip and psql on the same data and server, in one run (about a minute).

  --rows <n>    tasks in the store (default 100000)
  --rounds <n>  of which the median counts (default 3)
  --name <name> of the file in bench/results (default: the time)
  --publish     also puts the table into bench/README.md
`;

export interface BackupBenchOptions {
  rows: number;
  rounds: number;
  name: string | undefined;
  publish: boolean;
  help: boolean;
}

/** @throws UsageProblem */
export function readBackupOptions(args: string[]): BackupBenchOptions {
  const values = parse(args);
  return {
    rows: whole('--rows', values.rows ?? '100000', 10_000_000),
    rounds: whole('--rounds', values.rounds ?? '3', 100),
    name: nameOf(values.name),
    publish: values.publish === true,
    help: values.help === true,
  };
}

function parse(args: string[]) {
  const text = { type: 'string' } as const;
  const flag = { type: 'boolean' } as const;
  try {
    return parseArgs({
      args,
      options: { rows: text, rounds: text, name: text, publish: flag, help: { ...flag, short: 'h' } },
    }).values;
  } catch (cause) {
    throw new UsageProblem(cause instanceof Error ? cause.message : String(cause), { cause });
  }
}

function whole(option: string, given: string, max: number): number {
  const value = Number(given);
  if (!Number.isInteger(value) || value < 1 || value > max)
    throw new UsageProblem(`${option} must be a whole number from 1 to ${max} (is: ${given}).`);
  return value;
}

function nameOf(given: string | undefined): string | undefined {
  if (given !== undefined && !/^[\w.-]{1,100}$/.test(given))
    throw new UsageProblem(`--name may have letters, digits, dots and dashes (is: ${given}).`);
  return given;
}
