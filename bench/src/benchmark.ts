import { say } from '@taskmesh/local';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { othersSince } from './cpu/others.ts';
import { publish, writeReport } from './report/publish.ts';
import type { Origin } from './report/machine.ts';
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

/** What every benchmark has, and what is no parameter of what it measures. */
type Common = { help: boolean; name: string | undefined; publish?: boolean };

/** A report: what a run found, and what is known of every run. */
type Report<Options, Found> = Found &
  Pick<Origin, 'startedAt' | 'othersShare'> & { parameters: Omit<Options, keyof Common> };

/** One of the things that `npm run bench` measures: from its arguments to its tables. */
interface Benchmark<Options, Found extends object> {
  /** @throws UsageError */
  options: { help: string; read(args: string[]): Options };
  /** Undefined when something else than figures was asked for. */
  run(options: Options & Surroundings): Promise<Found | undefined>;
  /** What is printed, by the marks between which the README has it. */
  describe(report: Report<Options, Found>): Record<string, string>;
  /** @default puts what is printed into the README */
  publish?(report: Report<Options, Found>): void;
}

/** From arguments to a run of it; undefined when they asked for help only, which is printed. */
export function prepare<Options extends Common, Found extends object>(benchmark: Benchmark<Options, Found>) {
  return (args: string[]): ((around: Surroundings) => Promise<void>) | undefined => {
    const options = benchmark.options.read(args);
    const { help, name, publish: isPublished, ...parameters } = options;
    if (help) return void say(benchmark.options.help);
    return async (around) => {
      const startedAt = new Date().toISOString();
      const others = othersSince([process.pid]); // with all that is started from here
      const found = await benchmark.run({ ...options, ...around });
      if (!found) return;
      const report = { startedAt, othersShare: others(), parameters, ...found };
      const file = join(RESULTS, `${name ?? startedAt.replaceAll(/[:.]/g, '-')}.json`);
      writeReport(file, report);
      const tables = benchmark.describe(report);
      if (isPublished) (benchmark.publish ?? (() => publish(README, tables)))(report);
      say(`\n${Object.values(tables).join('\n\n')}\n\nAll rounds: ${file}`);
    };
  };
}
