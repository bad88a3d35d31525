import { attempt, makeRunDir, type RunDir } from '@taskmesh/local-servers';
import { statfsSync } from 'node:fs';
import { join } from 'node:path';
import { runCommand } from './command.ts';
import { runTests } from './test-run/run-tests.ts';
import { ROOT } from './test-run/steps.ts';

/** Linux's file system in memory. */
const MEMORY_DIR = '/dev/shm';
/** The databases, logs and event logs of a run need less than half of this. */
const NEEDED_BYTES = 4 * 1024 ** 3;

/**
 * Creates a directory for the servers of a run, in memory if there is room: on a disk, creating each of the many databases waits
 * for ext4, which searches for inodes that were not deleted recently.
 */
function makeServersDir(cacheDir: string): Promise<RunDir> {
  const parent = hasRoom(MEMORY_DIR) ? join(MEMORY_DIR, `taskmesh-${process.getuid?.() ?? 0}`) : cacheDir;
  return makeRunDir(parent, 'test-servers-');
}

function hasRoom(dir: string): boolean {
  const { bavail, bsize } = attempt(() => statfsSync(dir)) ?? { bavail: 0, bsize: 0 };
  return bavail * bsize >= NEEDED_BYTES;
}

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
