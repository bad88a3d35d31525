// What `npm run dev` has Node start again at each change.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runPlatform } from './run-platform.ts';
import { welcome } from './welcome.ts';

await runPlatform((platform, seconds) =>
  isFirst(join(platform.dataDir, 'run')) ? welcome(platform, seconds) : `Restarted in ${seconds} s.`,
);

/** Whether it runs for the first time under this watcher, which stays the same process. */
function isFirst(runDir: string): boolean {
  const file = join(runDir, 'watcher');
  const watcher = String(process.ppid);
  mkdirSync(runDir, { recursive: true });
  const former = readFileSync(file, { encoding: 'utf8', flag: 'a+' });
  writeFileSync(file, watcher);
  return former !== watcher;
}
