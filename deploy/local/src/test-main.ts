import { join } from 'node:path';
import { killNotedProcesses } from './processes/pid-lock.ts';
import { runCommand } from './command/run-command.ts';
import { runTests } from './test-run/run-tests.ts';
import { ROOT } from './test-run/steps.ts';
import { testServersDir } from './test-run/test-servers.ts';

const cacheDir = join(ROOT, '.cache');
const args = process.argv.slice(2);

await runCommand({
  async start(signal) {
    const passed = await runTests({
      jestArgs: args.filter((arg) => arg !== '--long'),
      long: args.includes('--long'),
      env: process.env,
      cacheDir,
      signal,
    });
    process.exit(passed && !signal.aborted ? 0 : 1);
  },
  killNow: () => killNotedProcesses(testServersDir(cacheDir)),
});
