import { killRecordedProcesses } from '@taskmesh/local-servers';
import { firstSteps, runCommand, printLine, table } from './command.ts';
import { operatorsAddress } from './machine-token.ts';
import { readStackArguments, readStackSettings } from './stack/stack-config.ts';
import { startStack, type Stack } from './stack/start-stack.ts';
import type { StackProcess } from './stack/stack.ts';

let dataDir: string | undefined;

await runCommand({
  async start(signal) {
    const options = readStackArguments(process.argv.slice(2));
    const settings = readStackSettings(process.env);
    dataDir = settings.dataDir;
    const begin = performance.now();
    const stack = await startStack({ ...settings, ...options, log: printLine, signal });
    printLine(`\nTaskmesh runs, each part on its own (${((performance.now() - begin) / 1000).toFixed(1)} s).\n`);
    printLine(overview(stack));
    const [url = ''] = stack.urls;
    printLine(`\n${firstSteps(url)}`);
    printLine(`Explore the graph in a browser: ${url}/graphql`);
    printLine(`Operators: ${operatorsAddress(url, stack.machineToken, { isTerminal: process.stdout.isTTY })}\n`);
    printLine(`Logs, data, and mails without SMTP_URL: ${settings.dataDir}. Ctrl-C stops everything.`);
    return stack;
  },
  killNow: () => dataDir && killRecordedProcesses(dataDir),
});

function processesOf(stack: Stack): StackProcess[] {
  return [...stack.processes.values()].sort((one, other) => (one.name < other.name ? -1 : 1));
}

function overview(stack: Stack): string {
  const withoutPassword = (url: string) => url.replace(/\/\/[^/@]*@/, '//');
  const rows = processesOf(stack).map(({ name, pid, current }) => [name, String(pid), withoutPassword(current.url)]);
  return table([['name', 'process', 'address'], ...rows]);
}
