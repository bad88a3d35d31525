import base from '../jest.config.mjs';

export default {
  ...base,
  rootDir: '../..',
  testTimeout: 60_000,
  testEnvironment: '<rootDir>/tools/mutation/environment.mjs',
  // Our packages by path: through node_modules, tests would get the sources without the mutations.
  moduleNameMapper: {
    '^@taskmesh/(gateway|auth|tasks|backup)$': '<rootDir>/services/$1/src/index.ts',
    '^@taskmesh/(local|all-in-one)$': '<rootDir>/deploy/$1/src/index.ts',
    '^@taskmesh/([^/]+)$': '<rootDir>/libs/$1/src/index.ts',
    '^@taskmesh/(gateway|tasks)/([^/]+)$': '<rootDir>/services/$1/src/$2.ts',
    '^@taskmesh/([^/]+)/([^/]+)$': '<rootDir>/libs/$1/src/$2.ts',
  },
};
