import base from '../jest.config.mjs';

export default {
  ...base,
  rootDir: '../..',
  testTimeout: 60_000,
  testEnvironment: '<rootDir>/tools/mutation/environment.mjs',
};
