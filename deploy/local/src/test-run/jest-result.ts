import { ifThere } from '@taskmesh/local-servers';
import { readFileSync } from 'node:fs';

/** As Jest writes it. */
interface JestResult {
  numPassedTests: number;
  numFailedTests: number;
  numRuntimeErrorTestSuites: number;
}

/**
 * What Jest counted, from the file that it wrote. A test file that could not run at all counts as one failure, and so
 * does a run that found no test: neither is a success.
 */
export function readJestResult(file: string) {
  // Nothing when Jest ended before it could write it.
  const result = ifThere(() => JSON.parse(readFileSync(file, 'utf8')) as JestResult);
  if (!result) return { passed: 0, failed: 1 };
  const passed = result.numPassedTests;
  const failed = result.numFailedTests + result.numRuntimeErrorTestSuites;
  return { passed, failed: passed + failed === 0 ? 1 : failed };
}
