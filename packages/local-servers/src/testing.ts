import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { killNotedProcesses } from './processes/data-dir.ts';

/**
 * Another Node process that runs this module text and reports things by lines of JSON. To be killed by the test. `source` may
 * import files of this project by `$src/…`.
 */
export function runScript(source: string, src = new URL('./', import.meta.url).href) {
  // It ends when we end for any reason, because its input ends.
  const text = `process.stdin.on('end', () => process.exit()).resume();${source}`.replaceAll('$src/', src);
  const child = spawn(process.execPath, ['--input-type=module-typescript', '-e', text], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    pid: child.pid ?? 0,
    /** The next line that it prints. */
    async nextLine(): Promise<unknown> {
      const { value, done } = await lines.next();
      if (done) throw new Error('the script ended without a line');
      return JSON.parse(value);
    },
    async killAndWait(): Promise<void> {
      const exited = once(child, 'exit');
      child.kill('SIGKILL');
      await exited;
    },
  };
}

/**
 * A new folder for one test file, readable for its owner only, as `mktemp -d` makes it. `remove` also ends the processes
 * that failed tests left in it.
 */
export function temporaryDir(name: string): { path: string; remove(): void } {
  const path = mkdtempSync(join(tmpdir(), `local-servers-${name}-`));
  return {
    path,
    remove() {
      for (const dir of [path, ...readdirSync(path).map((entry) => join(path, entry))]) killNotedProcesses(dir);
      rmSync(path, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}
