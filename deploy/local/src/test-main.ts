import { type RunDir } from '@taskmesh/local-servers';
import { join } from 'node:path';
import { runCommand } from './command/run-command.ts';
import { runTests } from './test-run/run-tests.ts';
import { ROOT } from './test-run/steps.ts';
import { makeServersDir } from './test-run/servers-dir.ts';

const args = process.argv.slice(2);
let dir: RunDir | undefined;

await runCommand({
  async start(signal) {
    dir = await makeServersDir(join(ROOT, '.cache'));
    const jestArgs = args.filter((arg) => arg !== '--long');
    const options = { jestArgs, long: args.includes('--long'), env: process.env, dataDir: dir.path, signal };
    const passed = await runTests(options).finally(dir.remove);
    process.exit(passed && !signal.aborted ? 0 : 1);
  },
  killNow: () => dir?.killNow(),
});
