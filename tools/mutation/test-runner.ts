import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { AREAS } from './areas.ts';

/** What runs for ever costs more computing than that; what is only slow, beside other work, does not. */
const CPU_SECONDS = 60;
const LOOK_EVERY_MS = 1_000;
/** Contexts of former runs are not all given back. */
const LARGEST_BYTES = 1_500_000_000;

interface Run {
  mutant?: string;
  only?: string[];
  hitLimit?: number;
}

interface Ran {
  results: { id: string; ms: number; failure?: string }[];
  hitCount: number;
  coverage: Coverage;
  rss: number;
}

/** By test, how often it reached which mutant. Kept here, because Stryker would run what a sample leaves out if it knew. */
type Coverage = Record<string, Record<string, number>>;

const COVERAGE = 'mutation-coverage.json';
/** What is reached so many times as often as without the mutant goes on for ever. */
const HITS = 100;

/** Stryker's own runner for Jest starts Jest anew within one process, and hangs with ES modules. */
function createTestRunner() {
  let jest: ChildProcess | undefined;

  async function run(what: Run): Promise<Ran | 'forever' | 'crashed'> {
    const child = (jest ??= await startJest());
    const limit = cpuSecondsOf(child) + CPU_SECONDS;
    const answer = Promise.withResolvers<Ran | 'forever' | 'crashed'>();
    const gone = () => answer.resolve('crashed');
    child.once('message', (ran: Ran) => answer.resolve(ran)).once('exit', gone);
    const watching = setInterval(() => {
      if (cpuSecondsOf(child) > limit) answer.resolve('forever');
    }, LOOK_EVERY_MS);
    child.send(what);
    const ran = await answer.promise;
    clearInterval(watching);
    child.off('exit', gone);
    if (typeof ran === 'string' || ran.rss > LARGEST_BYTES) await stop();
    return ran;
  }

  async function stop() {
    const child = jest;
    jest = undefined;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGKILL');
    await once(child, 'exit');
  }

  return {
    capabilities: () => ({ reloadEnvironment: true }),

    async dryRun() {
      if (process.env.MUTATION_LIST) return { status: 'complete', tests: [named('none', 0)] };
      const ran = await run({});
      if (typeof ran === 'string') return { status: 'error', errorMessage: `Unchanged, the code has ${ran}.` };
      writeFileSync(COVERAGE, JSON.stringify(ran.coverage));
      const tests = ran.results.map(({ id, ms, failure }) => ({
        ...named(id, ms),
        ...(failure === undefined ? {} : { status: 1, failureMessage: failure }),
      }));
      return { status: 'complete', tests: [...new Map(tests.map((test) => [test.id, test])).values()] };
    },

    async mutantRun({ activeMutant: { id } }: { activeMutant: { id: string } }) {
      if (process.env.MUTATION_LIST) return { status: 'survived', nrOfTests: 0 };
      const coverage = JSON.parse(readFileSync(COVERAGE, 'utf8')) as Coverage;
      const only = Object.keys(coverage).filter((test) => coverage[test]?.[id]);
      if (only.length === 0) return { status: 'survived', nrOfTests: 0 };
      const hitLimit = HITS * only.reduce((sum, test) => sum + (coverage[test]?.[id] ?? 0), 0);
      const ran = await run({ mutant: id, only, hitLimit });
      if (ran === 'forever') return { status: 'timeout' };
      if (ran === 'crashed') return { status: 'killed', killedBy: only.slice(0, 1), failureMessage: ran, nrOfTests: 1 };
      if (ran.hitCount > hitLimit) return { status: 'timeout' };
      const failed = ran.results.find(({ failure }) => failure !== undefined);
      const nrOfTests = ran.results.length;
      if (!failed) return { status: 'survived', nrOfTests };
      return { status: 'killed', killedBy: [failed.id], failureMessage: failed.failure, nrOfTests };
    },

    dispose: stop,
  };
}
createTestRunner.inject = [] as const;

export const strykerPlugins = [{ kind: 'TestRunner', name: 'jest-session', factory: createTestRunner }];

const named = (id: string, timeSpentMs: number) => ({ id, name: id, timeSpentMs, status: 0 });

/** In the tree with the mutants, where Stryker has started this. */
async function startJest(): Promise<ChildProcess> {
  const { tests } = AREAS[process.env.MUTATION_AREA ?? ''] ?? { tests: [] };
  const args = ['--config', 'tools/mutation/jest.config.mjs', '--runner', resolve('tools/mutation/jest-session.mjs')];
  const child = fork('node_modules/jest/bin/jest.js', [...args, '--forceExit', '--silent', '-i', ...tests], {
    execArgv: ['--disable-warning=ExperimentalWarning'],
    env: { ...process.env, NODE_DISABLE_COMPILE_CACHE: '1' }, // see tools/jest/runtime.mjs
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  });
  await Promise.race([
    once(child, 'message'),
    once(child, 'exit').then(() => Promise.reject(new Error('Jest has ended.'))),
  ]);
  return child;
}

/** Elsewhere than on Linux Stryker's limit of time is the only one. */
function cpuSecondsOf({ pid }: ChildProcess): number {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
    return (Number(fields[11]) + Number(fields[12])) / 100;
  } catch {
    return 0;
  }
}
