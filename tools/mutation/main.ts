import { provideServers, runCommand, say } from '@taskmesh/local';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AREAS } from './areas.ts';

const HELP = `npm run test:mutation [-- <area> ...]
Breaks the code on purpose, one small change after the other, and lists the changes that no test noticed. Takes hours for
all areas. Areas: ${Object.keys(AREAS).join(', ')}.`;

const STRYKER = 'node_modules/@stryker-mutator/core/bin/stryker.js';

const args = process.argv.slice(2);
const unknown = args.filter((arg) => !(arg in AREAS));
if (unknown.length > 0) {
  say(HELP);
  process.exit(args.includes('--help') ? 0 : 2);
}

await runCommand({
  async start(signal) {
    const dataDir = mkdtempSync(join(tmpdir(), 'taskmesh-mutation-'));
    const { urls, stop } = await provideServers({ env: process.env, dataDir, log: say });
    let hasFailed = false;
    for (const area of args.length > 0 ? args : Object.keys(AREAS)) {
      if (signal.aborted) break;
      say(`\n=== ${area}`);
      const child = spawn(process.execPath, [STRYKER, 'run', 'tools/mutation/stryker.config.mjs'], {
        env: { ...process.env, MUTATION_AREA: area, POSTGRES_URL: urls.postgres, REDIS_URL: urls.redis, KAFKA_BROKERS: urls.kafka }, // prettier-ignore
        stdio: 'inherit',
        signal,
      });
      const [code] = (await once(child, 'exit').catch(() => [1])) as [number | null];
      hasFailed ||= code !== 0;
    }
    await stop();
    rmSync(dataDir, { recursive: true, force: true });
    process.exit(hasFailed ? 1 : 0);
  },
  killNow: () => undefined,
});
