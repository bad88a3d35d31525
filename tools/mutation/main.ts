import { provideServers, runCommand, say } from '@taskmesh/local';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AREAS } from './areas.ts';
import { HEADER, keepNoticed, keepSample, rowOf } from './report.ts';

const HELP = readFileSync(new URL('main.help.txt', import.meta.url), 'utf8').trim();

const STRYKER = 'node_modules/@stryker-mutator/core/bin/stryker.js';

const args = new Set(process.argv.slice(2));
const isAgain = args.delete('--again');
const sampling = [...args].find((arg) => /^--sample=[1-9]\d*$/.test(arg));
if (sampling !== undefined) args.delete(sampling);
const sampleSize = Number(sampling?.split('=')[1] ?? 0);
if (![...args].every((arg) => Object.hasOwn(AREAS, arg))) {
  process.stderr.write(`${HELP}\n`);
  process.exit(2);
}
const areas = args.size > 0 ? [...args] : Object.keys(AREAS);

async function runStryker(isForced: boolean, env: Record<string, string>, signal: AbortSignal): Promise<number | null> {
  const command = [STRYKER, 'run', 'tools/mutation/stryker.config.mjs', ...(isForced ? ['--force'] : [])];
  const child = spawn(process.execPath, command, {
    // A tenth of the schedules: every change that gets past the nearer tests costs a run of them.
    env: { TASKMESH_SCHEDULES: '200', ...process.env, ...env },
    stdio: 'inherit',
    signal,
  });
  const [code] = (await once(child, 'exit').catch(() => [1])) as [number | null];
  return code;
}

await runCommand({
  async start(signal) {
    const dataDir = mkdtempSync(join(tmpdir(), 'taskmesh-mutation-'));
    const { env: servers, stop } = await provideServers({ env: process.env, dataDir, log: say });
    const rows: string[] = [];
    for (const area of areas) {
      if (signal.aborted) break;
      say(`\n=== ${area}`);
      if (isAgain) keepNoticed(area);
      const stryker = (isForced: boolean, env: Record<string, string>) =>
        runStryker(isForced, { MUTATION_AREA: area, ...servers, ...env }, signal);
      if (sampleSize > 0) {
        await stryker(true, { MUTATION_LIST: '1' });
        keepSample(area, sampleSize);
      }
      const code = await stryker(!isAgain && sampleSize === 0, {});
      if (code === 0) rows.push(rowOf(area));
    }
    say(`\n${[HEADER, ...rows].join('\n')}`);
    await stop();
    for (const left of [dataDir, '.mutation']) rmSync(left, { recursive: true, force: true });
    process.exit(rows.length === areas.length ? 0 : 1);
  },
});
