import { printLine } from '@taskmesh/local';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { othersShareSince } from '../machine/cpu.ts';
import { describeMachine, publish, writeReport, type Origin } from './report.ts';

const BENCH = fileURLToPath(new URL('../..', import.meta.url));
/** The directory for files that are fetched or compiled once. */
export const CACHE = join(BENCH, '..', '.cache');

export type Environment = Readonly<Record<string, string | undefined>>;

/** The parameters of a benchmark besides its options. */
export interface RunContext {
  /** An empty directory. */
  dataDir: string;
  env: Environment;
  log: (line: string) => void;
  signal: AbortSignal;
}

/** Options that do not change what is measured. */
type Common = { help: boolean; name: string | undefined; publish: boolean; profile: boolean };
/** The results of a run, and how it was measured. */
export type Report<Options, Found> = NonNullable<Found> & Origin & { parameters: Omit<Options, keyof Common> };

/** One command of `npm run bench`: from its arguments to its tables. */
interface Benchmark<Options, Found extends object> {
  /** @throws UsageError */
  options: { help: string; read(args: string[]): Options };
  /** Returns undefined if there are no figures to report. */
  run(options: Options & RunContext): Promise<Found | undefined>;
  /** Returns the tables, by the names of their marks in the README. */
  describe(report: Report<Options, Found>): Record<string, string>;
  /** @default writes the tables into the README */
  publish?(report: Report<Options, Found>): void;
}

/** Turns arguments into a run; prints help and returns undefined if they request only that. */
export function prepare<Options extends Common, Found extends object>(benchmark: Benchmark<Options, Found>) {
  return (args: string[]): ((context: RunContext) => Promise<void>) | undefined => {
    const options = benchmark.options.read(args);
    const { help, name, publish: isPublished, profile, ...parameters } = options;
    if (help) return void printLine(benchmark.options.help);
    return async (context) => {
      const startedAt = new Date().toISOString();
      const files = join(BENCH, 'results', name ?? startedAt.replaceAll(/[:.]/g, '-'));
      const othersShare = othersShareSince(process.pid); // includes all child processes
      const env = { ...context.env, ...(profile && { NODE_OPTIONS: `--cpu-prof --cpu-prof-dir=${files}` }) };
      const found = await benchmark.run({ ...options, ...context, env });
      if (profile) printLine(`CPU profiles: ${files}`);
      if (!found) return;
      const origin = { startedAt, machine: describeMachine(), othersShare: othersShare(), parameters };
      const report: Report<Options, Found> = { ...origin, ...(found as NonNullable<Found>) };
      writeReport(`${files}.json`, report);
      const tables = benchmark.describe(report);
      if (isPublished) (benchmark.publish ?? (() => publish(join(BENCH, 'README.md'), tables)))(report);
      printLine(`\n${Object.values(tables).join('\n\n')}\n\nAll rounds: ${files}.json`);
    };
  };
}
