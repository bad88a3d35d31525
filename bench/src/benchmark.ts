import { say } from '@taskmesh/local';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { commonOptions } from './arguments.ts';
import { publish, writeReport } from './report/publish.ts';
import type { TargetOptions } from './targets/target.ts';

const BENCH = fileURLToPath(new URL('..', import.meta.url));
const README = join(BENCH, 'README.md');
/** What is fetched or compiled once. */
export const CACHE = join(BENCH, '..', '.cache');
/** Of reports and profiles. */
export const RESULTS = join(BENCH, 'results');

/** What a run is given besides its options. */
export interface Surroundings extends TargetOptions {
  signal: AbortSignal;
}

type Common = ReturnType<typeof commonOptions>;

/** One of the things that `npm run bench` measures: from its arguments to its tables. */
export interface Benchmark<Options, Report extends { startedAt: string }> {
  help: string;
  /** @throws UsageError */
  read(args: string[]): Options;
  /** Undefined when something else than figures was asked for. */
  run(options: Options & Surroundings): Promise<Report | undefined>;
  /** What is printed, by the marks between which the README has it. */
  describe(report: Report): Record<string, string>;
  /** @default puts what is printed into the README */
  publish?(report: Report): void;
}

/** From arguments to a run of it; undefined when they asked for help only, which is printed. */
export function prepare<
  Options extends Omit<Common, 'publish'> & Partial<Common>,
  Report extends { startedAt: string },
>(benchmark: Benchmark<Options, Report>) {
  return (args: string[]): ((around: Surroundings) => Promise<void>) | undefined => {
    const options = benchmark.read(args);
    if (options.help) return void say(benchmark.help.trim());
    return async (around) => {
      const report = await benchmark.run({ ...options, ...around });
      if (!report) return;
      const file = join(RESULTS, `${options.name ?? report.startedAt.replaceAll(/[:.]/g, '-')}.json`);
      writeReport(file, report);
      const tables = benchmark.describe(report);
      if (options.publish) (benchmark.publish ?? (() => publish(README, tables)))(report);
      say(`\n${Object.values(tables).join('\n\n')}\n\nAll rounds: ${file}`);
    };
  };
}
