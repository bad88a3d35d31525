// Runs a command of a service or a developers' tool: node scripts/run.mjs <file> [arguments]. Plain JavaScript, for any Node from 20.
import { existsSync, readFileSync } from 'node:fs';
import { join, relative, resolve, sep } from 'node:path';
import { asksForHelp, Failure, main, ROOT } from './lib/command.mjs';
import { readEnvFile } from './lib/env-file.mjs';
import { ensureInstalled } from './lib/install.mjs';
import { runTool } from './lib/launch.mjs';

await main(async () => {
  const [given, ...args] = process.argv.slice(2);
  if (!given || given === '--help')
    throw new Failure('node scripts/run.mjs <file> [arguments]: runs a tool with Node 24.', given ? 0 : 2);
  const file = relative(ROOT, resolve(ROOT, given)).replaceAll(sep, '/');
  const isOurs = !file.startsWith('node_modules/');
  if (isOurs && !existsSync(join(ROOT, file))) throw new Failure(`There is no file ${join(ROOT, file)}.`, 2);
  const help = helpOf(file);
  if (help && asksForHelp(args)) {
    console.log(help);
    return 0;
  }
  // What people call beside a product that runs has its settings, and must not change what is installed under it.
  const isBesideProduct = /^(services|deploy)\//.test(file);
  if (isBesideProduct) readEnvFile();
  await ensureInstalled(isBesideProduct ? 'production' : 'all');
  return runTool(file, args);
});

/** The help of a tool stands beside it (tool.ts, tool.help.txt), so that nothing has to be installed to read it. */
function helpOf(file) {
  const path = join(ROOT, file.replace(/\.\w+$/, '.help.txt'));
  return existsSync(path) ? readFileSync(path, 'utf8').trim() : undefined;
}
