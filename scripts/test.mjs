// npm test: everything that has to hold before a change lands. Plain JavaScript, for any Node from 20.
import { ensureConsole } from './lib/console.mjs';
import { main } from './lib/failure.mjs';
import { ensureInstalled } from './lib/install.mjs';
import { launch } from './lib/launch.mjs';

const help = `
npm test [-- --long] [-- <Jest's arguments>]
Lint, format, unused code, types, generated files, then all tests against a real PostgreSQL, Redis and Kafka, which are started for it.

  --long     also what takes longer (npm run test:long)
  <others>   go to Jest, for instance a part of a path; all before it is left out then

Settings (environment variables):
  POSTGRES_URL, REDIS_URL, KAFKA_BROKERS
             servers of your own, to be used instead of new ones
`;

await main(async () => {
  const args = process.argv.slice(2);
  if (args.includes('--help') || args.includes('-h')) {
    console.log(help.trim());
    return 0;
  }
  await ensureInstalled('all');
  await ensureConsole();
  return launch('deploy/local/src/test-main.ts', args);
});
