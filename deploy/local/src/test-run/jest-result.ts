import { readFileSync } from 'node:fs';

export interface Counts {
  passed: number;
  failed: number;
  /** Names of tests that failed once and then passed. */
  secondTry: string[];
}

interface TestFile {
  assertionResults: { fullName: string; status: string; invocations?: number }[];
}

/**
 * What Jest counted, from the file that it wrote. A test file that could not run at all counts as one failure, and so
 * does a run that found no test: neither is a success.
 */
export function readJestResult(file: string): Counts {
  let result: Record<string, unknown>;
  try {
    result = JSON.parse(readFileSync(file, 'utf8')) as Record<string, unknown>; // Jest's own format, checked below
  } catch {
    return { passed: 0, failed: 1, secondTry: [] }; // Jest ended before it could write it
  }
  const passed = count(result, 'numPassedTests');
  const failed = count(result, 'numFailedTests') + count(result, 'numRuntimeErrorTestSuites');
  const files = (result['testResults'] ?? []) as TestFile[]; // Jest's own format
  const secondTry = files
    .flatMap(({ assertionResults }) => assertionResults)
    .filter(({ status, invocations = 1 }) => status === 'passed' && invocations > 1)
    .map(({ fullName }) => fullName);
  return { passed, failed: passed + failed === 0 ? 1 : failed, secondTry };
}

function count(result: Record<string, unknown>, name: string): number {
  const value = result[name];
  if (typeof value !== 'number') throw new Error(`Jest's result has no ${name}.`);
  return value;
}
