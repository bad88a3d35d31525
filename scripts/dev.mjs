// npm run dev: the whole platform in one process, started again at each change of a file. Plain JavaScript, for any Node from 20.
import { checkArguments } from './lib/arguments.mjs';
import { readEnvFile } from './lib/env-file.mjs';
import { main } from './lib/failure.mjs';
import { ensureInstalled } from './lib/install.mjs';
import { launch } from './lib/launch.mjs';

const help = `
npm run dev: runs Taskmesh in one process with a demo account and its tasks, and starts it again whenever one of its files
changes. PostgreSQL goes on meanwhile. Ctrl-C stops both.

Settings (environment variables, or a file .env; all of them are in .env.example), besides those of npm start:
  DATA_DIR      where everything is kept (.data/dev)
  POSTGRES_URL  a server of your own, to be used instead of a new one
`;

await main(async () => {
  const args = checkArguments(process.argv.slice(2), { help });
  if (!args) return 0;
  readEnvFile();
  await ensureInstalled('all');
  return launch('deploy/all-in-one/src/dev.main.ts', args);
});
