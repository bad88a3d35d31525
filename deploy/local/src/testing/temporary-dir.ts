import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { killNotedProcesses } from '../processes/data-dir.ts';

/**
 * A new folder for one test file, readable for its owner only, as `mktemp -d` makes it. `remove` also ends the processes
 * that failed tests left in it.
 */
export function temporaryDir(name: string): { path: string; remove(): void } {
  const path = mkdtempSync(join(tmpdir(), `taskmesh-${name}-`));
  return {
    path,
    remove() {
      for (const dir of [path, ...readdirSync(path).map((entry) => join(path, entry))]) killNotedProcesses(dir);
      rmSync(path, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}
