import { availableParallelism } from 'node:os';
import { AREAS } from './areas.ts';
import { reportOf } from './report.ts';

const name = process.env.MUTATION_AREA;
const area = AREAS[name];
const JEST = `"${process.execPath}" --experimental-vm-modules --disable-warning=ExperimentalWarning node_modules/jest/bin/jest.js --config tools/mutation/jest.config.mjs --bail --forceExit --silent -i`;

// Run by main.ts. See https://stryker-mutator.io/docs/stryker-js/configuration/
export default {
  // A process for each mutant: within one, Jest's ES modules hang at their second run.
  testRunner: 'command',
  commandRunner: { command: area.tests.map((paths) => `${JEST} ${paths}`).join(' && ') },
  mutate: [...area.mutate, '!**/*.test.ts', '!**/*.contract.ts', '!**/index.ts'],
  ignorePatterns: ['.cache', '.data', 'bench', 'docs'],
  // Texts are for people: what they say is no promise.
  mutator: { excludedMutations: ['StringLiteral'] },
  // Not below .cache: tests there are never run.
  tempDirName: '.mutation',
  cleanTempDir: 'always',
  reporters: ['progress-append-only', 'clear-text'],
  clearTextReporter: { allowColor: false, logTests: false, reportTests: false },
  incremental: true,
  incrementalFile: reportOf(name),
  concurrency: Math.max(1, Math.floor(availableParallelism() / 2)),
  // What waits for ever has been noticed, but what is only slow has not, and beside other work everything is slow.
  timeoutMS: 150_000,
};
