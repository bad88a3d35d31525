import { makeRunDir, runCommand, printLine, type RunDir } from '@taskmesh/local';
import { backup } from './backup/backup.ts';
import { feed } from './feed/feed.ts';
import { gateway } from './gateway/gateway.ts';
import { growth } from './growth/growth.ts';
import { productionEnvironment } from './machine/targets.ts';
import { requests } from './requests.ts';
import { CACHE, prepare } from './run/benchmark.ts';
import { scale } from './scale/scale.ts';

const BENCHMARKS: Record<string, ReturnType<typeof prepare>> = {
  requests: prepare(requests),
  feed: prepare(feed),
  backup: prepare(backup),
  scale: prepare(scale),
  growth: prepare(growth),
  gateway: prepare(gateway),
};

const [first = '', ...others] = process.argv.slice(2);
const named = BENCHMARKS[first];
let runDir: RunDir | undefined;

await runCommand({
  async start(signal) {
    const run = named ? named(others) : prepare(requests)(process.argv.slice(2));
    if (!run) return;
    runDir = await makeRunDir(CACHE, 'bench-');
    const context = { dataDir: runDir.path, env: productionEnvironment(process.env), log: printLine, signal };
    await run(context).finally(runDir.remove);
  },
  killNow: () => runDir?.killNow(),
});
