// The program that Node restarts at each change for `npm run dev`.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runPlatform } from './run-platform.ts';
import { welcome } from './welcome.ts';

await runPlatform((platform, seconds) =>
  isFirstRun(join(platform.dataDir, 'run')) ? welcome(platform, seconds) : `Restarted in ${seconds} s.`,
);

/** Whether this is the first run under this watcher, whose process stays the same. */
function isFirstRun(runDir: string): boolean {
  const file = join(runDir, 'watcher');
  const watcher = String(process.ppid);
  mkdirSync(runDir, { recursive: true });
  const previous = readFileSync(file, { encoding: 'utf8', flag: 'a+' });
  writeFileSync(file, watcher);
  return previous !== watcher;
}
