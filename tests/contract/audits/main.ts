import { readFileSync } from 'node:fs';
import { runFederationAudit } from './federation/run.ts';
import { findSuite } from './public-suite.ts';
import { runSubgraphCompatibility } from './subgraph-compatibility/run.ts';

const HELP = readFileSync(new URL('main.help.txt', import.meta.url), 'utf8').trim();

const AUDITS = {
  federation: ['graphql-hive/federation-gateway-audit', runFederationAudit],
  'subgraph-compatibility': ['apollographql/apollo-federation-subgraph-compatibility', runSubgraphCompatibility],
} as const;

const names = process.argv.slice(2);
if (!names.every((name) => Object.hasOwn(AUDITS, name))) {
  console.error(HELP);
  process.exit(2);
}

let failed = 0;
for (const [name, [repository, run]] of Object.entries(AUDITS)) {
  if (names.length > 0 && !names.includes(name)) continue;
  const folder = process.env.PUBLIC_SUITES;
  const suite = folder === undefined ? undefined : findSuite(folder, repository);
  if (!suite) {
    console.log(`${name}: not run, PUBLIC_SUITES has no copy of ${repository}`);
    continue;
  }
  const results = await run(suite.dir).finally(suite.remove);
  if (results.length === 0) throw new Error(`No case was found in the copy of ${repository}.`);
  const failures = results.filter(({ problem }) => problem !== undefined);
  failed += failures.length;
  console.log(`${name}: ${results.length - failures.length} of ${results.length} passed`);
  for (const failure of failures) console.log(`  ${failure.name}: ${failure.problem}`);
}
process.exit(failed > 0 ? 1 : 0);
