import { firstSteps, operatorsAddress } from '@taskmesh/local';
import { join } from 'node:path';
import type { Embedded } from './start-embedded.ts';

/** The text for the terminal after a start. */
export function welcome(platform: Embedded, seconds: string): string {
  return [
    `\nTaskmesh runs (${seconds} s).\n`,
    addresses(platform),
    `\n${firstSteps(platform.url)}\n\n${locations(platform)}. Ctrl-C stops everything.`,
  ].join('\n');
}

function addresses({ url, machineToken }: Embedded): string {
  const { PUBLIC_URL } = process.env;
  return [
    ...(PUBLIC_URL ? [`  For others    ${PUBLIC_URL}`] : []),
    `  REST          ${url}/api`,
    `  GraphQL       ${url}/graphql (in a browser: a page to explore the graph)`,
    `  API reference ${url}/api/docs`,
    `  Operators     ${operatorsAddress(url, machineToken, { isTerminal: process.stdout.isTTY })}`,
  ].join('\n');
}

/** Where the data are, and the mails, which are files if there is no mail server. */
function locations({ dataDir, logFile }: Embedded): string {
  const mails = process.env.SMTP_URL ? [] : [`mails: ${join(dataDir, 'mail')} (no SMTP_URL)`];
  return [`Data: ${dataDir}`, `log: ${logFile}`, ...mails].join(', ');
}
