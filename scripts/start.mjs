// npm start: the whole platform in one process, with a real PostgreSQL. Plain JavaScript, for Node 20 or later.
import { runProduct } from './lib/launch.mjs';

const help = `
npm start: runs Taskmesh in one process, with its own PostgreSQL. Ctrl-C stops it.

Settings (environment variables, or a file .env; .env.example lists them all):
  PORT        the port to listen on (4000); the admin port is PORT + 10000
  HOST        the address to listen on (127.0.0.1)
  PUBLIC_URL  the address that clients use (http://HOST:PORT)
  DATA_DIR    where all data is kept (.data)
  LOG_LEVEL   fatal, error, warn, info, debug or trace (info)
`;

await runProduct({ help, file: 'deploy/all-in-one/src/main.ts' });
