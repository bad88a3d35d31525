// Runs a command of a service or a developers' tool: node scripts/run.mjs <file> [arguments]. Plain JavaScript, for any Node from 20.
import { readEnvFile } from './lib/env-file.mjs';
import { Failure, main } from './lib/failure.mjs';
import { ensureInstalled } from './lib/install.mjs';
import { runTool } from './lib/launch.mjs';

await main(async () => {
  const [file, ...args] = process.argv.slice(2);
  if (!file || file === '--help')
    throw new Failure('node scripts/run.mjs <file> [arguments]: runs a tool with Node 24.', file ? 0 : 2);
  // What people call beside a product that runs has its settings, and must not change what is installed under it.
  const isBesideProduct = /^(services|deploy)\//.test(file);
  if (isBesideProduct) readEnvFile();
  await ensureInstalled(isBesideProduct ? 'production' : 'all');
  return runTool(file, args);
});
