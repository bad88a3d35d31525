import { killNotedProcesses, runCommand, say } from '@taskmesh/local';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { UsageProblem } from './arguments.ts';
import { BACKUP_HELP, readBackupOptions, type BackupBenchOptions } from './backup/options.ts';
import { backupHeading, backupTable } from './backup/report.ts';
import { runBackupBench } from './backup/run-backup-bench.ts';
import { FEED_HELP, readFeedOptions, type FeedOptions } from './feed/options.ts';
import { describeFeed } from './feed/report/report.ts';
import { runFeed } from './feed/run-feed.ts';
import { GATEWAY_HELP, readGatewayOptions, type GatewayOptions } from './gateway/options.ts';
import { describeGateways } from './gateway/report.ts';
import { runGatewayBench } from './gateway/run-gateway-bench.ts';
import { HELP, readOptions, type Options } from './options.ts';
import { runProfile } from './profile/run-profile.ts';
import { describeBesideLogins, describeRequests, publish, putBetween } from './report/publish.ts';
import { writeReport } from './report/report.ts';
import { runBench } from './run-bench.ts';
import { describeScale, writeDocumentation } from './scale/documentation.ts';
import { MEASURED_FILE, readMeasured } from './scale/measured.ts';
import { readScaleOptions, SCALE_HELP, type ScaleOptions } from './scale/options.ts';
import { runScale } from './scale/run-scale.ts';
import { readTracesOptions, TRACES_HELP, type TracesOptions } from './traces/options.ts';
import { describeTraces } from './traces/report.ts';
import { runTracesBench } from './traces/run-traces-bench.ts';
import { dataDirsIn, makeWorkDir } from './work-dir.ts';

const BENCH = fileURLToPath(new URL('..', import.meta.url));
const CACHE = join(BENCH, '..', '.cache');
const RESULTS = join(BENCH, 'results');
const README = join(BENCH, 'README.md');
const BACKUP_FIGURES = ['<!-- backup figures: begin -->', '<!-- backup figures: end -->'] as const;
const GATEWAY_FIGURES = ['<!-- gateway figures: begin -->', '<!-- gateway figures: end -->'] as const;
const FEED_FIGURES = ['<!-- feed figures: begin -->', '<!-- feed figures: end -->'] as const;

interface Surroundings {
  dataDir: string;
  env: Readonly<Record<string, string | undefined>>;
  log: (line: string) => void;
  signal: AbortSignal;
}

const args = process.argv.slice(2);
const bench = benchNamed(args[0]);
// Everything is compiled once, by whichever run comes first.
const env = { NODE_COMPILE_CACHE: join(CACHE, 'compile'), ...process.env };
const workDir = await makeWorkDir(CACHE);

await runCommand({
  async start(signal) {
    try {
      await bench({ dataDir: workDir.path, env, log: say, signal });
    } finally {
      workDir.remove();
    }
    process.exit(0);
  },
  killNow: () => dataDirsIn(workDir.path).forEach(killNotedProcesses),
});

function benchNamed(name: string | undefined): (around: Surroundings) => Promise<void> {
  if (name === 'feed') return benchOf(FEED_HELP, () => readFeedOptions(args.slice(1)), benchFeed);
  if (name === 'backup') return benchOf(BACKUP_HELP, () => readBackupOptions(args.slice(1)), benchBackups);
  if (name === 'scale') return benchOf(SCALE_HELP, () => readScaleOptions(args.slice(1)), benchScale);
  if (name === 'traces') return benchOf(TRACES_HELP, () => readTracesOptions(args.slice(1)), benchTraces);
  if (name === 'gateway') return benchOf(GATEWAY_HELP, () => readGatewayOptions(args.slice(1)), benchGateways);
  return benchOf(HELP, () => readOptions(args), benchRequests);
}

async function benchRequests(options: Options, around: Surroundings): Promise<void> {
  const run = { ...options, ...around };
  if (options.profile) return runProfile({ ...run, resultsDir: RESULTS });
  const report = await runBench(run);
  const file = resultFile(options, report);
  writeReport(file, report);
  if (options.publish) publish(README, report);
  if (report.measured.length > 0) say(`\n${describeRequests(report)}`);
  if (report.besideLogins.length > 0) say(`\n${describeBesideLogins(report)}`);
  say(`\nAll rounds: ${file}`);
}

async function benchFeed(options: FeedOptions, around: Surroundings): Promise<void> {
  const report = await runFeed({ ...options, ...around, resultsDir: RESULTS });
  if (!report) return;
  const file = resultFile(options, report);
  writeReport(file, report);
  if (options.publish) putBetween(README, FEED_FIGURES, describeFeed(report));
  say(`\n${describeFeed(report)}\n\nAll rounds: ${file}`);
}

async function benchBackups(options: BackupBenchOptions, around: Surroundings): Promise<void> {
  const report = await runBackupBench({ ...options, ...around });
  const file = resultFile(options, report);
  writeReport(file, report);
  const figures = `${backupHeading(report)}\n\n${backupTable(report)}`;
  if (options.publish) putBetween(README, BACKUP_FIGURES, figures);
  say(`\n${figures}\n\nAll rounds: ${file}`);
}

async function benchScale(options: ScaleOptions, around: Surroundings): Promise<void> {
  if (options.tables) return writeDocumentation(readMeasured());
  const report = await runScale({ ...options, ...around });
  const file = resultFile(options, report);
  writeReport(file, report);
  if (options.publish) {
    writeReport(MEASURED_FILE, report);
    writeDocumentation(report);
  }
  say(`\n${describeScale(report)}\n\nAll figures: ${file}`);
}

async function benchTraces(options: TracesOptions, around: Surroundings): Promise<void> {
  const report = await runTracesBench({ ...options, ...around });
  const file = resultFile(options, report);
  writeReport(file, report);
  say(`\n${describeTraces(report)}\n\nAll rounds: ${file}`);
}

async function benchGateways(options: GatewayOptions, around: Surroundings): Promise<void> {
  const report = await runGatewayBench({ ...options, ...around, cacheDir: CACHE, resultsDir: RESULTS });
  if (!report) return;
  const file = resultFile(options, report);
  writeReport(file, report);
  if (options.publish) putBetween(README, GATEWAY_FIGURES, describeGateways(report));
  say(`\n${describeGateways(report)}\n\nAll rounds: ${file}`);
}

function resultFile({ name }: { name: string | undefined }, { startedAt }: { startedAt: string }): string {
  return join(RESULTS, `${name ?? startedAt.replaceAll(/[:.]/g, '-')}.json`);
}

/** Reads the arguments at once; ends here when they ask for help, or make no sense. */
function benchOf<Read extends { help: boolean }>(
  help: string,
  read: () => Read,
  run: (options: Read, around: Surroundings) => Promise<void>,
): (around: Surroundings) => Promise<void> {
  try {
    const options = read();
    if (!options.help) return (around) => run(options, around);
    say(help.trim());
    process.exit(0);
  } catch (error) {
    if (!(error instanceof UsageProblem)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exit(2);
  }
}
