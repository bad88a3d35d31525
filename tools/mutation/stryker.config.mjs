import jest from '../jest.config.mjs';
import { AREAS } from './areas.mjs';
import { workspacePaths } from './workspace-paths.mjs';

const area = AREAS[process.env.MUTATION_AREA];

// Run by main.ts. See https://stryker-mutator.io/docs/stryker-js/configuration/
export default {
  testRunner: 'jest',
  testRunnerNodeArgs: ['--experimental-vm-modules', '--disable-warning=ExperimentalWarning'],
  plugins: ['@stryker-mutator/jest-runner'],
  coverageAnalysis: 'perTest',
  mutate: [...area.mutate, '!**/*.test.ts', '!**/index.ts'],
  testFiles: area.tests,
  ignorePatterns: ['.cache', '.data', 'bench', 'docs'],
  // Texts are for people: what they say is no promise.
  mutator: { excludedMutations: ['StringLiteral'] },
  // Not below .cache: tests there are never run.
  tempDirName: '.mutation',
  cleanTempDir: 'always',
  reporters: ['clear-text', 'json'],
  clearTextReporter: {
    allowColor: false,
    logTests: false,
    reportTests: false,
    reportMutants: true,
    reportScoreTable: true,
  },
  jsonReporter: { fileName: `.cache/mutation-${process.env.MUTATION_AREA}.json` },
  concurrency: 2,
  // A mutant that waits for ever has been noticed.
  timeoutMS: 4_000,
  timeoutFactor: 2,
  jest: { projectType: 'custom', config: { ...jest, rootDir: '.', moduleNameMapper: workspacePaths } },
};
