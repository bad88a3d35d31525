// npm run stack: every part as a process of its own. Plain JavaScript, for any Node from 20.
import { runProduct } from './lib/product.mjs';

const help = `
npm run stack [-- --gateways N] [-- --no-restart] [-- --observe]
Runs PostgreSQL, Redis, Kafka and each service of Taskmesh as a process of its own. Ctrl-C stops them all.

  --gateways N   gateways, on PORT, PORT + 1, … (1)
  --no-restart   leave a process that died as it is
  --observe      pages with the traces and metrics of all of them

Settings (environment variables, or a file .env; all of them are in .env.example):
  PORT           of the first gateway (4000); administrators' port: PORT + 10000
  HOST           on which interface the gateways listen (127.0.0.1)
  DATA_DIR       where data and logs are kept (.data/stack)
  POSTGRES_URL, REDIS_URL, KAFKA_BROKERS
                 servers of your own, to be used instead of new ones
Everything else that is set goes to every service.
`;

const options = { gateways: { type: 'string' }, 'no-restart': { type: 'boolean' }, observe: { type: 'boolean' } };

await runProduct({ help, options, file: 'deploy/local/src/main.ts' });
