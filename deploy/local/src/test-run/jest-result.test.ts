import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryDir } from '../testing/temporary-dir.ts';
import { readJestResult } from './jest-result.ts';

const dir = temporaryDir('jest');
afterAll(dir.remove);

function counted(content: unknown) {
  const file = join(dir.path, 'result.json');
  writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content));
  return readJestResult(file);
}

describe("Jest's result", () => {
  it('is told as it is', () => {
    expect(counted({ numPassedTests: 7, numFailedTests: 2, numRuntimeErrorTestSuites: 0 })).toEqual({
      passed: 7,
      failed: 2,
      secondTry: [],
    });
  });

  it('names what passed at the second try only', () => {
    const assertionResults = [
      { fullName: 'a', status: 'passed', invocations: 1 },
      { fullName: 'b', status: 'passed', invocations: 2 },
      { fullName: 'c', status: 'failed', invocations: 2 },
    ];
    const counts = { numPassedTests: 2, numFailedTests: 1, numRuntimeErrorTestSuites: 0 };
    expect(counted({ ...counts, testResults: [{ assertionResults }] })).toEqual({
      passed: 2,
      failed: 1,
      secondTry: ['b'],
    });
  });

  it('counts a file that could not run as a failure', () => {
    expect(counted({ numPassedTests: 7, numFailedTests: 0, numRuntimeErrorTestSuites: 1 })).toEqual({
      passed: 7,
      failed: 1,
      secondTry: [],
    });
  });

  it('is a failure when no test ran, or when there is none', () => {
    expect(counted({ numPassedTests: 0, numFailedTests: 0, numRuntimeErrorTestSuites: 0 })).toEqual({
      passed: 0,
      failed: 1,
      secondTry: [],
    });
    expect(counted('{"numPassed')).toEqual({ passed: 0, failed: 1, secondTry: [] });
    expect(readJestResult(join(dir.path, 'missing.json'))).toEqual({ passed: 0, failed: 1, secondTry: [] });
  });
});
