import { firstSteps, killNotedProcesses, operatorsAddress, runCommand, say } from '@taskmesh/local';
import { setV8Flags } from '@taskmesh/service';
import { resolve } from 'node:path';
import { startEmbedded, type Embedded } from './start-embedded.ts';

setV8Flags();
await runCommand({
  async start(signal) {
    const begin = Date.now();
    const platform = await startEmbedded({ env: process.env, progress: say, signal });
    say(`\nTaskmesh runs (${((Date.now() - begin) / 1000).toFixed(1)} s).\n`);
    say(addresses(platform));
    say(
      `\n${firstSteps(platform.url)}\n\nData: ${platform.dataDir}, log: ${platform.logFile}. Ctrl-C stops everything.`,
    );
    return platform;
  },
  killNow: () => killNotedProcesses(resolve(process.env.DATA_DIR ?? '.data')),
});

function addresses({ url, machineToken }: Embedded): string {
  return [
    `  REST          ${url}/api`,
    `  GraphQL       ${url}/graphql`,
    `  API reference ${url}/api/docs`,
    `  Operators     ${operatorsAddress(url, machineToken, { isTerminal: process.stdout.isTTY })}`,
  ].join('\n');
}
