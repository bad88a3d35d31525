// One configuration for every project. Node itself loads the modules under test, as in production: see jest/runtime.mjs.
export default {
  rootDir: '..',
  testMatch: ['**/*.test.ts'],
  testPathIgnorePatterns: [
    '/node_modules/',
    '/\\.cache/',
    '/\\.data/',
    ...(process.env.TASKMESH_LONG ? [] : ['\\.long\\.test\\.ts$']),
    ...(process.env.TASKMESH_CLUSTER ? [] : ['\\.cluster\\.test\\.ts$']),
  ],
  modulePathIgnorePatterns: ['<rootDir>/.cache/', '<rootDir>/.data/'],
  runtime: '<rootDir>/tools/jest/runtime.mjs',
  testSequencer: '<rootDir>/tools/jest/sequencer.mjs',
  testEnvironment: '<rootDir>/tools/jest/environment.mjs',
  transform: {},
  testTimeout: 120_000, // a busy machine takes long; tests that must be fast have limits of their own
  maxWorkers: 3, // even on two cores: tests that use servers spend a quarter of their time waiting
  workerIdleMemoryLimit: '1GB',
  // A worker ends at once (files close what they open), but freeing its memory takes longer than the default of 500 ms.
  workerGracefulExitTimeout: 10_000,
};
