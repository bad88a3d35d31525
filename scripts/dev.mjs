// npm run dev: the whole platform in one process, restarted when a file changes. Plain JavaScript, for Node 20 or later.
import { runProduct } from './lib/launch.mjs';

const help = `
npm run dev: runs Taskmesh in one process with a demo account and its tasks, and restarts it whenever one of its files
changes. PostgreSQL keeps running meanwhile. Ctrl-C stops both.

Settings (environment variables, or a file .env; .env.example lists them all), besides those of npm start:
  DATA_DIR      where all data is kept (.data/dev)
  POSTGRES_URL  a server of yours to use instead of a new one
`;

await runProduct({ help, need: 'all', file: 'deploy/all-in-one/src/dev.main.ts' });
