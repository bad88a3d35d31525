import { firstSteps, killNotedProcesses, operatorsAddress, runCommand, say } from '@taskmesh/local';
import { setV8Flags, trimMemory } from '@taskmesh/service';
import { join, resolve } from 'node:path';
import { startEmbedded, type Embedded } from './start-embedded.ts';

setV8Flags();
await runCommand({
  async start(signal) {
    const begin = Date.now();
    const platform = await startEmbedded({ env: process.env, progress: say, signal });
    trimMemory();
    say(`\nTaskmesh runs (${((Date.now() - begin) / 1000).toFixed(1)} s).\n`);
    say(addresses(platform));
    say(`\n${firstSteps(platform.url)}\n\n${places(platform)}. Ctrl-C stops everything.`);
    return platform;
  },
  killNow: () => killNotedProcesses(resolve(process.env.DATA_DIR ?? '.data')),
});

function addresses({ url, machineToken }: Embedded): string {
  return [
    `  REST          ${url}/api`,
    `  GraphQL       ${url}/graphql (in a browser: a page to explore the graph)`,
    `  API reference ${url}/api/docs`,
    `  Operators     ${operatorsAddress(url, machineToken, { isTerminal: process.stdout.isTTY })}`,
  ].join('\n');
}

/** Without a mail server people look for their mails in vain, unless they know where. */
function places({ dataDir, logFile }: Embedded): string {
  const mails = process.env.SMTP_URL ? [] : [`mails: ${join(dataDir, 'mail')} (no SMTP_URL)`];
  return [`Data: ${dataDir}`, `log: ${logFile}`, ...mails].join(', ');
}
