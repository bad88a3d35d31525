import { killNotedProcesses, runCommand, say } from '@taskmesh/local';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { HELP, readOptions, UsageProblem } from './options.ts';
import { runProfile } from './profile/run-profile.ts';
import { BACKUP_HELP, readBackupOptions } from './backup/options.ts';
import { backupHeading, backupTable } from './backup/report.ts';
import { runBackupBench } from './backup/run-backup-bench.ts';
import { heading, publish, publishText } from './report/publish.ts';
import { writeReport } from './report/report.ts';
import { table } from './report/table.ts';
import { runBench, type RunOptions } from './run-bench.ts';
import { dataDirsIn, makeWorkDir } from './work-dir.ts';

const BENCH = fileURLToPath(new URL('..', import.meta.url));
const CACHE = join(BENCH, '..', '.cache');
const RESULTS = join(BENCH, 'results');

const isBackup = process.argv[2] === 'backup';
const options = optionsOrExit(() =>
  isBackup ? readBackupOptions(process.argv.slice(3)) : readOptions(process.argv.slice(2)),
);
// Everything is compiled once, by whichever run comes first.
const env = { NODE_COMPILE_CACHE: join(CACHE, 'compile'), ...process.env };
const workDir = await makeWorkDir(CACHE);

await runCommand({
  async start(signal) {
    const run = { ...options, dataDir: workDir.path, env, log: say, signal };
    try {
      if ('rows' in run) await compareBackups(run);
      else await (run.profile ? runProfile({ ...run, resultsDir: RESULTS }) : compare(run));
    } finally {
      workDir.remove();
    }
    process.exit(0);
  },
  killNow: () => dataDirsIn(workDir.path).forEach(killNotedProcesses),
});

async function compareBackups(run: Parameters<typeof runBackupBench>[0]): Promise<void> {
  const report = await runBackupBench(run);
  const file = join(RESULTS, `${run.name ?? `backup-${report.startedAt.replaceAll(/[:.]/g, '-')}`}.json`);
  writeReport(file, report);
  const figures = `${backupHeading(report)}\n\n${backupTable(report)}`;
  if (run.publish) publishText(join(BENCH, 'README.md'), 'backup figures', figures);
  say(`\n${figures}\n\nAll rounds: ${file}`);
}

async function compare(run: RunOptions): Promise<void> {
  const report = await runBench(run);
  const file = join(RESULTS, `${options.name ?? report.startedAt.replaceAll(/[:.]/g, '-')}.json`);
  writeReport(file, report);
  if (options.publish) publish(join(BENCH, 'README.md'), report);
  say(`\n${heading(report)}\n\n${table(report.measured)}\n\nAll rounds: ${file}`);
}

function optionsOrExit<Read extends { help: boolean }>(readThem: () => Read): Read {
  try {
    const read = readThem();
    if (!read.help) return read;
    say((isBackup ? BACKUP_HELP : HELP).trim());
    process.exit(0);
  } catch (error) {
    if (!(error instanceof UsageProblem)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exit(2);
  }
}
