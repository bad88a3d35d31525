// npm start: the whole platform in one process, with a real PostgreSQL. Plain JavaScript, for any Node from 20.
import { runProduct } from './lib/product.mjs';

const help = `
npm start: runs Taskmesh in one process, with a PostgreSQL of its own. Ctrl-C stops it.

Settings (environment variables, or a file .env; all of them are in .env.example):
  PORT        where it listens (4000); administrators' port: PORT + 10000
  HOST        on which interface (127.0.0.1)
  PUBLIC_URL  how clients see it (http://HOST:PORT)
  DATA_DIR    where everything is kept (.data)
  LOG_LEVEL   fatal, error, warn, info, debug or trace (info)
`;

await runProduct({ help, file: 'deploy/all-in-one/src/main.ts' });
