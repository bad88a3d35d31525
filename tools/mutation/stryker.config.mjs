import { availableParallelism } from 'node:os';
import { AREAS } from './areas.ts';
import { reportOf } from './report.ts';

const name = process.env.MUTATION_AREA;
const area = AREAS[name];
const JEST = `"${process.execPath}" --experimental-vm-modules --disable-warning=ExperimentalWarning node_modules/jest/bin/jest.js --config tools/mutation/jest.config.mjs --bail --forceExit --silent -i`;
/** Of the environment, a process for a dump gets Node's variables only. */
const INHERIT =
  'export NODE_MUTANT=$__STRYKER_ACTIVE_MUTANT__ NODE_OPTIONS="--import=data:text/javascript,process.env.__STRYKER_ACTIVE_MUTANT__??=process.env.NODE_MUTANT"';

// Run by main.ts. See https://stryker-mutator.io/docs/stryker-js/configuration/
export default {
  // A process for each mutant: within one, Jest's ES modules hang at their second run.
  testRunner: 'command',
  // Seconds of computing, of which any of these runs takes a fraction: what is only slow, beside other work, is not stopped.
  commandRunner: {
    command: process.env.MUTATION_LIST
      ? 'true'
      : ['ulimit -t 60', INHERIT, ...area.tests.map((paths) => `${JEST} ${paths}`)].join(' && '),
  },
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
