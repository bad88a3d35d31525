import { makeRunDir, runCommand, say, type RunDir } from '@taskmesh/local';
import { join } from 'node:path';
import { backupOptions } from './backup/options.ts';
import { describeBackups } from './backup/report.ts';
import { runBackupBench } from './backup/run-backup-bench.ts';
import { CACHE, prepare } from './benchmark.ts';
import { feedOptions } from './feed/options.ts';
import { describeFeed } from './feed/report.ts';
import { runFeed } from './feed/run-feed.ts';
import { gatewayOptions } from './gateway/options.ts';
import { describeGateways } from './gateway/report.ts';
import { runGatewayBench } from './gateway/run-gateway-bench.ts';
import { growthOptions } from './growth/options.ts';
import { describeGrowth } from './growth/report.ts';
import { runGrowth } from './growth/run-growth.ts';
import { requestOptions } from './options.ts';
import { describeRequests } from './report/requests.ts';
import { runBench } from './run-bench.ts';
import { describeScale, publishScale } from './scale/documentation.ts';
import { scaleOptions } from './scale/options.ts';
import { runScale } from './scale/run-scale.ts';

const requests = prepare({ options: requestOptions, run: runBench, describe: describeRequests });
const others: Record<string, typeof requests> = {
  feed: prepare({ options: feedOptions, run: runFeed, describe: describeFeed }),
  backup: prepare({ options: backupOptions, run: runBackupBench, describe: describeBackups }),
  scale: prepare({ options: scaleOptions, run: runScale, describe: describeScale, publish: publishScale }),
  growth: prepare({ options: growthOptions, run: runGrowth, describe: describeGrowth }),
  gateway: prepare({ options: gatewayOptions, run: runGatewayBench, describe: describeGateways }),
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
