import { say } from '@taskmesh/local';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { othersShareSince } from '../machine/cpu.ts';
import { profileSettings, summariseProfiles } from '../machine/profile.ts';
import { describeMachine, publish, writeReport, type Origin } from './report.ts';

const BENCH = fileURLToPath(new URL('../..', import.meta.url));
/** For what is fetched or compiled once. */
export const CACHE = join(BENCH, '..', '.cache');

export type Environment = Readonly<Record<string, string | undefined>>;

/** What a benchmark gets besides its options. */
export interface Surroundings {
  /** An empty directory. */
  dataDir: string;
  env: Environment;
  log: (line: string) => void;
  signal: AbortSignal;
}

/** Options that do not change what is measured. */
type Common = { help: boolean; name: string | undefined; publish: boolean; profile: boolean };
/** What a run found, and how it was measured. */
export type Report<Options, Found> = NonNullable<Found> & Origin & { parameters: Omit<Options, keyof Common> };

/** One command of `npm run bench`: from its arguments to its tables. */
interface Benchmark<Options, Found extends object> {
  /** @throws UsageError */
  options: { help: string; read(args: string[]): Options };
  /** Undefined when there are no figures to report. */
  run(options: Options & Surroundings): Promise<Found | undefined>;
  /** The tables, by the marks between which the README has them. */
  describe(report: Report<Options, Found>): Record<string, string>;
  /** @default writes the tables into the README */
  publish?(report: Report<Options, Found>): void;
}

/** From arguments to a run; undefined when they only asked for help, which is printed. */
export function prepare<Options extends Common, Found extends object>(benchmark: Benchmark<Options, Found>) {
  return (args: string[]): ((around: Surroundings) => Promise<void>) | undefined => {
    const options = benchmark.options.read(args);
    const { help, name, publish: isPublished, profile, ...parameters } = options;
    if (help) return void say(benchmark.options.help);
    return async (around) => {
      const startedAt = new Date().toISOString();
      const files = join(BENCH, 'results', name ?? startedAt.replaceAll(/[:.]/g, '-'));
      const othersShare = othersShareSince(process.pid); // with all that is started from here
      const env = { ...around.env, ...(profile && profileSettings(files)) };
      const found = await benchmark.run({ ...options, ...around, env });
      if (profile) say(summariseProfiles(files));
      if (!found) return;
      const origin = { startedAt, machine: describeMachine(), othersShare: othersShare(), parameters };
      const report: Report<Options, Found> = { ...origin, ...(found as NonNullable<Found>) };
      writeReport(`${files}.json`, report);
      const tables = benchmark.describe(report);
      if (isPublished) (benchmark.publish ?? (() => publish(join(BENCH, 'README.md'), tables)))(report);
      say(`\n${Object.values(tables).join('\n\n')}\n\nAll rounds: ${files}.json`);
    };
  };
}
