// npm run stack: every part as a process of its own. Plain JavaScript, for Node 20 or later.
import { runProduct } from './lib/launch.mjs';

const help = `
npm run stack [-- --gateways N] [-- --no-restart]
Runs PostgreSQL, Redis, Kafka and each service of Taskmesh as separate processes. Ctrl-C stops them all.

  --gateways N   how many gateways to run, on PORT, PORT + 1, … (1)
  --no-restart   do not restart processes that die

Settings (environment variables, or a file .env; .env.example lists them all):
  PORT           the first gateway's port (4000); its admin port is PORT + 10000
  HOST           the address that the gateways listen on (127.0.0.1)
  DATA_DIR       where data and logs are kept (.data/stack)
  POSTGRES_URL, REDIS_URL, KAFKA_BROKERS
                 your own servers, to use instead of new ones
All other settings are passed to every service.
`;

const options = {
  gateways: { type: 'string' },
  'no-restart': { type: 'boolean' },
};

await runProduct({ help, options, file: 'deploy/local/src/main.ts' });
