import { availableParallelism } from 'node:os';
import { AREAS } from './areas.ts';
import { reportOf } from './report.ts';

const name = process.env.MUTATION_AREA;
const area = AREAS[name];

// Run by main.ts. See https://stryker-mutator.io/docs/stryker-js/configuration/
export default {
  plugins: ['./tools/mutation/test-runner.ts'],
  testRunner: 'jest-session',
  coverageAnalysis: 'off', // the runner sees to that
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
  // What waits for ever without computing ends with its test's time. This is for the rest: slow has not been noticed.
  timeoutMS: 600_000,
};
