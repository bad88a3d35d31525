import { readFileSync } from 'node:fs';
import { runFederationAudit } from './federation/run.ts';
import { findSuite } from './public-suite.ts';

const HELP = readFileSync(new URL('main.help.txt', import.meta.url), 'utf8').trim();
const REPOSITORY = 'graphql-hive/federation-gateway-audit';

if (process.argv.length > 2) {
  console.error(HELP);
  process.exit(2);
}
const folder = process.env.PUBLIC_SUITES;
const suite = folder === undefined ? undefined : findSuite(folder, REPOSITORY);
if (!suite) {
  console.log(`Not run: PUBLIC_SUITES has no copy of ${REPOSITORY}.`);
  process.exit(0);
}
const results = await runFederationAudit(suite.dir).finally(suite.remove);
if (results.length === 0) throw new Error(`No case was found in the copy of ${REPOSITORY}.`);
const failures = results.filter(({ problem }) => problem !== undefined);
console.log(`${results.length - failures.length} of ${results.length} passed`);
for (const failure of failures) console.log(`  ${failure.name}: ${failure.problem}`);
process.exit(failures.length > 0 ? 1 : 0);
