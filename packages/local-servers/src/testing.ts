import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { killRecordedProcesses } from './processes/data-dir.ts';

/**
 * Runs this source text in another Node process, which the test can kill. The script reports to the test with lines of JSON.
 * `source` may import files of this project as `$src/…`.
 */
export function runScript(source: string, src = new URL('./', import.meta.url).href) {
  // The child ends when we end for any reason, because its input ends.
  const text = `process.stdin.on('end', () => process.exit()).resume();${source}`.replaceAll('$src/', src);
  const child = spawn(process.execPath, ['--input-type=module-typescript', '-e', text], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    pid: child.pid ?? 0,
    /** Parses the next line that the script prints. */
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
 * Creates a folder for one test file, readable by its owner only, like `mktemp -d`. At the end of the file it is removed, and
 * the processes that failed tests left in it are killed.
 */
export function temporaryDir(name: string): string {
  const path = mkdtempSync(join(tmpdir(), `local-servers-${name}-`));
  afterAll(() => {
    for (const dir of [path, ...readdirSync(path).map((entry) => join(path, entry))]) killRecordedProcesses(dir);
    rmSync(path, { recursive: true, force: true, maxRetries: 5 });
  });
  return path;
}
