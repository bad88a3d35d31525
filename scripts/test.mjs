// npm test: all checks that a change must pass. Plain JavaScript, for Node 20 or later.
import { checkArguments, main } from './lib/command.mjs';
import { ensureConsole, ensureInstalled } from './lib/install.mjs';
import { launch } from './lib/launch.mjs';

const help = `
npm test [-- <Jest's arguments>]
npm run test:long [-- <Jest's arguments>]
npm run test:image [-- <Jest's arguments>]
Checks lint, format, unused code, types and generated files, then runs all tests against a real PostgreSQL, Redis and Kafka, which it starts.

test:long also runs the tests that take longer. test:image builds the container images with buildah and runs them, and nothing
else. Arguments are passed to Jest, for example part of a path; the other checks are then skipped.

Settings (environment variables):
  POSTGRES_URL, REDIS_URL, KAFKA_BROKERS
             your own servers, to use instead of new ones
`;

await main(async () => {
  const args = checkArguments(process.argv.slice(2), { help, strict: false });
  if (!args) return 0;
  await ensureInstalled('all');
  await ensureConsole();
  return launch('deploy/local/src/test-main.ts', args);
});
