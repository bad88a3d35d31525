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
  type Report = Record<string, unknown> & { measured: Record<string, unknown>[] };
  const report: Report = JSON.parse(readFileSync(`${results}.json`, 'utf8'));
  for (const path of [results, `${results}.json`]) rmSync(path, { recursive: true, force: true });
  const lines = stdout.split('\n').filter((each) => each.startsWith('| ') && !each.startsWith('| -'));
  const rows = lines.map((line) => line.slice(1, -1).split('|').map((cell) => cell.trim())); // prettier-ignore
  return { report, stdout, rows };
}
