import { killNotedProcesses, runCommand, say } from '@taskmesh/local';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { HELP, readOptions, UsageProblem, type Options } from './options.ts';
import { runProfile } from './profile/run-profile.ts';
import { heading, publish } from './report/publish.ts';
import { writeReport } from './report/report.ts';
import { table } from './report/table.ts';
import { runBench, type RunOptions } from './run-bench.ts';
import { dataDirsIn, makeWorkDir } from './work-dir.ts';

const BENCH = fileURLToPath(new URL('..', import.meta.url));
const CACHE = join(BENCH, '..', '.cache');
const RESULTS = join(BENCH, 'results');

const options = optionsOrExit();
// Everything is compiled once, by whichever run comes first.
const env = { NODE_COMPILE_CACHE: join(CACHE, 'compile'), ...process.env };
const workDir = await makeWorkDir(CACHE);

await runCommand({
  async start(signal) {
    const run = { ...options, dataDir: workDir.path, env, log: say, signal };
    try {
      await (options.profile ? runProfile({ ...run, resultsDir: RESULTS }) : compare(run));
    } finally {
      workDir.remove();
    }
    process.exit(0);
  },
  killNow: () => dataDirsIn(workDir.path).forEach(killNotedProcesses),
});

async function compare(run: RunOptions): Promise<void> {
  const report = await runBench(run);
  const file = join(RESULTS, `${options.name ?? report.startedAt.replaceAll(/[:.]/g, '-')}.json`);
  writeReport(file, report);
  if (options.publish) publish(join(BENCH, 'README.md'), report);
  say(`\n${heading(report)}\n\n${table(report.measured)}\n\nAll rounds: ${file}`);
}

function optionsOrExit(): Options {
  try {
    const read = readOptions(process.argv.slice(2));
    if (!read.help) return read;
    say(HELP.trim());
    process.exit(0);
  } catch (error) {
    if (!(error instanceof UsageProblem)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exit(2);
  }
}
