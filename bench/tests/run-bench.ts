import { execFile } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const MAIN = fileURLToPath(new URL('../src/main.ts', import.meta.url));
let runs = 0;

/** Runs `npm run bench -- …` and returns the report, the output, and the rows of its tables without padding. */
export async function runBench(line: string) {
  const name = `test-${process.pid}-${++runs}`;
  const { stdout } = await promisify(execFile)(process.execPath, [MAIN, ...line.split(' '), '--name', name]);
  const results = fileURLToPath(new URL(`../results/${name}`, import.meta.url));
  const report = JSON.parse(readFileSync(`${results}.json`, 'utf8')) as {
    measured: Record<string, unknown>[];
  } & Record<string, unknown>;
  for (const path of [results, `${results}.json`]) rmSync(path, { recursive: true, force: true });
  const rows = stdout.split('\n').filter((each) => each.startsWith('| ') && !each.startsWith('| -'));
  return {
    report,
    stdout,
    rows: rows.map((row) =>
      row
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim()),
    ),
  };
}
