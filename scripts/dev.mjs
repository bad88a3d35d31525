// npm run dev: the whole platform in one process, started again at each change of a file. Plain JavaScript, for any Node from 20.
import { runProduct } from './lib/product.mjs';

const help = `
npm run dev: runs Taskmesh in one process with a demo account and its tasks, and starts it again whenever one of its files
changes. PostgreSQL goes on meanwhile. Ctrl-C stops both.

Settings (environment variables, or a file .env; all of them are in .env.example), besides those of npm start:
  DATA_DIR      where everything is kept (.data/dev)
  POSTGRES_URL  a server of your own, to be used instead of a new one
`;

await runProduct({ help, need: 'all', file: 'deploy/all-in-one/src/dev.main.ts' });
