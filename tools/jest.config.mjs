// One configuration for every project: TypeScript as ES modules, transformed by swc (types are checked by tsc).
export default {
  rootDir: '..',
  testMatch: ['**/*.test.ts'],
  testPathIgnorePatterns: [
    '/node_modules/',
    '/\\.cache/',
    '/\\.data/',
    '<rootDir>/.mutation/',
    ...(process.env.TASKMESH_LONG ? [] : ['\\.long\\.test\\.ts$']),
    ...(process.env.TASKMESH_CLUSTER ? [] : ['\\.cluster\\.test\\.ts$']),
  ],
  modulePathIgnorePatterns: ['<rootDir>/.cache/', '<rootDir>/.data/', '<rootDir>/.mutation/'],
  testEnvironment: 'node',
  extensionsToTreatAsEsm: ['.ts'],
  transform: {
    '\\.ts$': [
      '@swc/jest',
      { jsc: { target: 'es2024', parser: { syntax: 'typescript' } }, module: { type: 'es6' }, sourceMaps: 'inline' },
    ],
  },
  testTimeout: 120_000, // a busy machine takes long; what must not take long says so itself
  maxWorkers: 3, // on two cores: tests that use servers wait for a quarter of their time
  workerIdleMemoryLimit: '1GB',
};
