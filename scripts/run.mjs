// Runs a command of a service or a development tool: node scripts/run.mjs <file> [arguments]. Plain JavaScript, for Node 20 or later.
import { existsSync, readFileSync } from 'node:fs';
import { join, relative, resolve, sep } from 'node:path';
import { requestsHelp, Failure, main, ROOT } from './lib/command.mjs';
import { readEnvFile } from './lib/env-file.mjs';
import { ensureInstalled } from './lib/install.mjs';
import { runTool } from './lib/launch.mjs';

await main(async () => {
  const [path, ...args] = process.argv.slice(2);
  if (!path || path === '--help')
    throw new Failure('node scripts/run.mjs <file> [arguments]: runs a tool with Node 24.', path ? 0 : 2);
  const file = relative(ROOT, resolve(ROOT, path)).replaceAll(sep, '/');
  const isOurs = !file.startsWith('node_modules/');
  if (isOurs && !existsSync(join(ROOT, file))) throw new Failure(`There is no file ${join(ROOT, file)}.`, 2);
  const help = helpOf(file);
  if (help && requestsHelp(args)) {
    console.log(help);
    return 0;
  }
  // A command used beside a running product reads the product's settings, and must not change its installed dependencies.
  const isBesideProduct = /^(services|deploy)\//.test(file);
  if (isBesideProduct) readEnvFile();
  await ensureInstalled(isBesideProduct ? 'production' : 'all');
  return runTool(file, args);
});

/** A tool's help is in a file beside it (tool.ts, tool.help.txt), so that it can be read without installing anything. */
function helpOf(file) {
  const path = join(ROOT, file.replace(/\.\w+$/, '.help.txt'));
  return existsSync(path) ? readFileSync(path, 'utf8').trim() : undefined;
}
