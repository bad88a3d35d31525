import { temporaryDir } from '@taskmesh/local-servers/testing';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readJestResult } from './run-tests.ts';

const dir = temporaryDir('jest');
afterAll(dir.remove);

function counted(content: unknown) {
  const file = join(dir.path, 'result.json');
  writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content));
  return readJestResult(file);
}

describe("Jest's result", () => {
  it('is reported unchanged', () => {
    expect(counted({ numPassedTests: 7, numFailedTests: 2, numRuntimeErrorTestSuites: 0 })).toEqual({
      passed: 7,
      failed: 2,
    });
  });

  it('counts a file that could not run as a failure', () => {
    expect(counted({ numPassedTests: 7, numFailedTests: 0, numRuntimeErrorTestSuites: 1 })).toEqual({
      passed: 7,
      failed: 1,
    });
  });

  it('is a failure when no test ran, or when there is none', () => {
    expect(counted({ numPassedTests: 0, numFailedTests: 0, numRuntimeErrorTestSuites: 0 })).toEqual({
      passed: 0,
      failed: 1,
    });
    expect(counted('{"numPassed')).toEqual({ passed: 0, failed: 1 });
    expect(readJestResult(join(dir.path, 'missing.json'))).toEqual({ passed: 0, failed: 1 });
  });
});
