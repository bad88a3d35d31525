import { setTimeout as sleep } from 'node:timers/promises';
import { smoke, type Side } from './smoke.ts';

// Run by `helm test`: smoke.main.ts public|inner URL
const MAX_ATTEMPTS = 15;
const [side = 'public', url = ''] = process.argv.slice(2) as [Side, string];

for (let attempt = 1; ; attempt++) {
  try {
    await smoke(side, url);
    console.log(`${url} works.`);
    break;
  } catch (error) {
    console.error(`${url}: ${error instanceof Error ? error.message : String(error)}`);
    if (attempt === MAX_ATTEMPTS) process.exit(1);
    await sleep(2_000);
  }
}
