// One configuration for every project. Node loads what is tested, as it loads the product: see jest/runtime.mjs.
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
  testTimeout: 120_000, // a busy machine takes long; what must not take long says so itself
  maxWorkers: 3, // on two cores: tests that use servers wait for a quarter of their time
  workerIdleMemoryLimit: '1GB',
  // A worker ends at once (files close what they open), but giving back its memory takes longer than the usual 500 ms.
  workerGracefulExitTimeout: 10_000,
};
