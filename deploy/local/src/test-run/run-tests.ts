import { describeError, attempt } from '@taskmesh/local-servers';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { printLine } from '../command.ts';
import { provideServers } from '../provide-servers.ts';
import { runNode, runStep, type StepResult } from './steps.ts';

export interface TestRunOptions {
  /** The directory of the servers' data. */
  dataDir: string;
  /** Arguments for Jest. If there are any, lint, types and generated files are not checked. */
  jestArgs: string[];
  /** Whether to include the tests that take long. */
  long: boolean;
  env: Readonly<Record<string, string | undefined>>;
  signal: AbortSignal;
}

type TestsResult = Awaited<ReturnType<typeof runJest>>;

const EXIT_TIMEOUT_MS = 20_000;

/** Runs all checks and tests, even after a failure, so that one run reports everything. Returns whether all passed. */
export async function runTests(options: TestRunOptions): Promise<boolean> {
  const { env, dataDir, signal, jestArgs } = options;
  // The servers start while the sources are checked: one needs the network and disks, the other the processor.
  const servers = provideServers({ dataDir, env, log: printLine, isThrowaway: true });
  servers.catch(() => undefined); // awaited below
  const checks = jestArgs.length > 0 ? [] : await runChecks(signal);
  let stop: (() => Promise<void>) | undefined;
  let tests: TestsResult | undefined;
  try {
    const provided = await servers;
    stop = provided.stop;
    if (!signal.aborted) tests = await runJest(options, provided.env);
  } catch (error) {
    printLine(describeError(error));
  } finally {
    await stop?.();
  }
  return report(checks, tests);
}

async function runChecks(signal: AbortSignal): Promise<StepResult[]> {
  const nx = ['node_modules/nx/dist/bin/nx.js', 'run-many', '--outputStyle=static', '-t'];
  const checks: [name: string, args: string[]][] = [
    ['lint and types', [...nx, 'lint', 'cycles', 'format', 'unused', 'weight', 'typecheck']],
    ['generated files', ['tools/codegen.ts', '--check']],
  ];
  const results: StepResult[] = [];
  for (const [name, args] of checks)
    if (!signal.aborted) results.push(await runStep(name, () => runNode(args, { signal })));
  return results;
}

async function runJest({ jestArgs, long, env: ownEnv, signal }: TestRunOptions, serverEnv: Record<string, string>) {
  const dir = mkdtempSync(join(tmpdir(), 'taskmesh-jest-'));
  const outputFile = ownEnv.TASKMESH_TEST_RESULT ?? join(dir, 'result.json');
  rmSync(outputFile, { force: true }); // of an earlier run: it would count as the end of this one
  const jest = ['--disable-warning=ExperimentalWarning', 'node_modules/jest/bin/jest.js'];
  const args = [...jest, '--config', 'tools/jest.config.mjs', '--json', `--outputFile=${outputFile}`, ...jestArgs];
  const stuck = endWhenStuck(outputFile);
  const env = {
    ...serverEnv,
    NODE_DISABLE_COMPILE_CACHE: '1', // for Jest itself, which loads new instances of our modules for each file
    ...(long ? { TASKMESH_LONG: '1' } : {}),
  };
  try {
    const step = await runStep('tests', () => runNode(args, { env, signal: AbortSignal.any([signal, stuck.signal]) }));
    return { step, result: readJestResult(outputFile) };
  } finally {
    stuck.stopWatching();
    rmSync(dir, { recursive: true, force: true });
  }
}

/** Ends Jest, as a failure, some time after it has written its result: it waits forever if a test left something open. */
function endWhenStuck(outputFile: string): { signal: AbortSignal; stopWatching(): void } {
  const stuck = new AbortController();
  let writtenAt: number | undefined;
  const timer = setInterval(() => {
    if (!writtenAt) writtenAt = existsSync(outputFile) ? performance.now() : undefined;
    else if (performance.now() - writtenAt > EXIT_TIMEOUT_MS && !stuck.signal.aborted) {
      printLine(`Jest does not end (${EXIT_TIMEOUT_MS / 1000} s after its last test): a test has left something open.`);
      stuck.abort();
    }
  }, 500);
  return { signal: stuck.signal, stopWatching: () => clearInterval(timer) };
}

function report(checks: StepResult[], tests: TestsResult | undefined): boolean {
  const steps = [...checks, ...(tests ? [tests.step] : [])];
  const failed = steps.filter((step) => !step.passed).map(({ name }) => name);
  if (!tests) failed.push('tests (not run)');
  printLine('');
  for (const { name, passed, seconds } of steps)
    printLine(`  ${passed ? 'passed' : 'FAILED'}  ${seconds.toFixed(1).padStart(6)} s  ${name}`);
  if (failed.length > 0) printLine(`\nFailed: ${failed.join(', ')}.`);
  const { passed, failed: failures, slowest } = tests?.result ?? NO_RESULT;
  if (slowest.length === 0) printLine('No test file was run. Tests that take longer: npm run test:long');
  if (checks.length > 0) printLine(['', 'Longest files:', ...slowest].join('\n'));
  printLine(`\n${passed} passed, ${failures} failed`);
  return failed.length === 0 && failures === 0;
}

/** The parts that we read of Jest's result. */
interface JestResult {
  numPassedTests: number;
  numFailedTests: number;
  numRuntimeErrorTestSuites: number;
  /** Times in milliseconds. */
  testResults: { name: string; startTime: number; endTime: number }[];
}

const NO_RESULT = { passed: 0, failed: 1, slowest: [] };

/**
 * Reads the counts and the 20 files that took longest from the file that Jest wrote. A test file that could not run at all
 * counts as one failure, and so does a run that found no test.
 */
export function readJestResult(file: string) {
  // Missing if Jest ended before it could write the file.
  const result = attempt(() => JSON.parse(readFileSync(file, 'utf8')) as JestResult);
  if (!result) return NO_RESULT;
  const passed = result.numPassedTests;
  const failed = result.numFailedTests + result.numRuntimeErrorTestSuites;
  const slowest = result.testResults
    .map(({ name, startTime, endTime }) => ({ name, seconds: (endTime - startTime) / 1_000 }))
    .toSorted((one, other) => other.seconds - one.seconds)
    .slice(0, 20)
    .map(({ name, seconds }) => `${seconds.toFixed(1).padStart(14)} s  ${relative('', name)}`);
  return { passed, failed: passed + failed === 0 ? 1 : failed, slowest };
}
