import { AREAS } from './areas.ts';

const area = AREAS[process.env.MUTATION_AREA];

// Run by main.ts. See https://stryker-mutator.io/docs/stryker-js/configuration/
export default {
  // A process for each mutant: within one, Jest's ES modules hang at their second run.
  testRunner: 'command',
  commandRunner: {
    command: `node --experimental-vm-modules --disable-warning=ExperimentalWarning node_modules/jest/bin/jest.js --config tools/mutation/jest.config.mjs --bail --forceExit --silent -i ${area.tests.join(' ')}`,
  },
  mutate: [...area.mutate, '!**/*.test.ts', '!**/index.ts'],
  ignorePatterns: ['.cache', '.data', 'bench', 'docs'],
  // Texts are for people: what they say is no promise.
  mutator: { excludedMutations: ['StringLiteral'] },
  // Not below .cache: tests there are never run.
  tempDirName: '.mutation',
  cleanTempDir: 'always',
  reporters: ['clear-text', 'json'],
  clearTextReporter: { allowColor: false, logTests: false, reportTests: false },
  jsonReporter: { fileName: `.cache/mutation-${process.env.MUTATION_AREA}.json` },
  concurrency: 2,
  // A mutant that waits for ever has been noticed.
  timeoutMS: 10_000,
};
