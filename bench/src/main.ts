import { makeRunDir, runCommand, say, type RunDir } from '@taskmesh/local';
import { join } from 'node:path';
import { BACKUP_HELP, readBackupOptions } from './backup/options.ts';
import { describeBackups } from './backup/report.ts';
import { runBackupBench } from './backup/run-backup-bench.ts';
import { CACHE, prepare } from './benchmark.ts';
import { FEED_HELP, readFeedOptions } from './feed/options.ts';
import { describeFeed } from './feed/report.ts';
import { runFeed } from './feed/run-feed.ts';
import { GATEWAY_HELP, readGatewayOptions } from './gateway/options.ts';
import { describeGateways } from './gateway/report.ts';
import { runGatewayBench } from './gateway/run-gateway-bench.ts';
import { GROWTH_HELP, readGrowthOptions } from './growth/options.ts';
import { describeGrowth } from './growth/report.ts';
import { runGrowth } from './growth/run-growth.ts';
import { HELP, readOptions } from './options.ts';
import { describeRequests } from './report/requests.ts';
import { runBench } from './run-bench.ts';
import { describeScale, publishScale } from './scale/documentation.ts';
import { readScaleOptions, SCALE_HELP } from './scale/options.ts';
import { runScale } from './scale/run-scale.ts';
import { readStartOptions, START_HELP } from './start/options.ts';
import { describeStart } from './start/report.ts';
import { runStart } from './start/run-start.ts';
import { readTracesOptions, TRACES_HELP } from './traces/options.ts';
import { describeTraces } from './traces/report.ts';
import { runTracesBench } from './traces/run-traces-bench.ts';

const requests = prepare({ help: HELP, read: readOptions, run: runBench, describe: describeRequests });
const others: Record<string, typeof requests> = {
  feed: prepare({ help: FEED_HELP, read: readFeedOptions, run: runFeed, describe: describeFeed }),
  backup: prepare({ help: BACKUP_HELP, read: readBackupOptions, run: runBackupBench, describe: describeBackups }),
  scale: prepare({
    help: SCALE_HELP,
    read: readScaleOptions,
    run: runScale,
    describe: describeScale,
    publish: publishScale,
  }),
  growth: prepare({ help: GROWTH_HELP, read: readGrowthOptions, run: runGrowth, describe: describeGrowth }),
  start: prepare({ help: START_HELP, read: readStartOptions, run: runStart, describe: describeStart }),
  gateway: prepare({ help: GATEWAY_HELP, read: readGatewayOptions, run: runGatewayBench, describe: describeGateways }),
  traces: prepare({
    help: TRACES_HELP,
    read: readTracesOptions,
    run: runTracesBench,
    describe: (report) => ({ traces: describeTraces(report) }),
  }),
};

const args = process.argv.slice(2);
const other = others[args[0] ?? ''];
let runDir: RunDir | undefined;

await runCommand({
  async start(signal) {
    const run = other ? other(args.slice(1)) : requests(args);
    if (!run) return;
    // Everything is compiled once, by whichever run comes first.
    const env = { NODE_COMPILE_CACHE: join(CACHE, 'compile'), ...process.env };
    runDir = await makeRunDir(CACHE, 'bench-');
    await run({ dataDir: runDir.path, env, log: say, signal }).finally(runDir.remove);
  },
  killNow: () => runDir?.killNow(),
});
