import { readFileSync } from 'node:fs';
import { ifThere } from '../plain-error.ts';

export interface Counts {
  passed: number;
  failed: number;
}

/**
 * What Jest counted, from the file that it wrote. A test file that could not run at all counts as one failure, and so
 * does a run that found no test: neither is a success.
 */
export function readJestResult(file: string): Counts {
  // Jest's own format, checked below; nothing when Jest ended before it could write it.
  const result = ifThere(() => JSON.parse(readFileSync(file, 'utf8')) as Record<string, unknown>);
  if (!result) return { passed: 0, failed: 1 };
  const passed = count(result, 'numPassedTests');
  const failed = count(result, 'numFailedTests') + count(result, 'numRuntimeErrorTestSuites');
  return { passed, failed: passed + failed === 0 ? 1 : failed };
}

function count(result: Record<string, unknown>, name: string): number {
  const value = result[name];
  if (typeof value !== 'number') throw new Error(`Jest's result has no ${name}.`);
  return value;
}
