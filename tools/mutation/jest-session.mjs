import JestRunner from 'jest-runner';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { AREAS } from './areas.ts';
import { session } from './session.mjs';

const { tests: order } = AREAS[process.env.MUTATION_AREA];

/**
 * Runs Jest's tests as often as it is told to, by messages, each time with another mutant: loading Jest, and transforming what
 * the tests import, costs more than most of them.
 */
export default class {
  supportsEventEmitters = false;
  isSerial = true;

  constructor(globalConfig, context) {
    this.globalConfig = globalConfig;
    this.context = context;
    process.env.NODE_MUTATION_DIR = mkdtempSync(join(tmpdir(), 'taskmesh-mutation-'));
    process.env.NODE_OPTIONS = `--import=${new URL('process.mjs', import.meta.url).href}`;
  }

  runTests(tests, watcher) {
    const ordered = tests.toSorted((one, other) => rankOf(one) - rankOf(other));
    process.on('disconnect', () => process.exit());
    process.on('message', ({ mutant, only, hitLimit }) => {
      process.env.NODE_MUTANT = mutant ?? '';
      Object.assign(session, { mutant, only: only && new Set(only), hitLimit, hitCount: 0, coverage: {} });
      void this.#run(ordered, watcher).then((results) =>
        process.send({
          results,
          hitCount: session.hitCount,
          coverage: session.coverage,
          rss: process.memoryUsage.rss(),
        }),
      );
    });
    process.send({ isReady: true });
    return new Promise(() => undefined);
  }

  /** One file after the other, the nearest first, up to the first that fails. */
  async #run(tests, watcher) {
    const files = session.only && new Set([...session.only].map((id) => id.slice(0, id.indexOf(': '))));
    const results = [];
    for (const test of tests) {
      const file = relative(process.cwd(), test.path);
      if (files && !files.has(file)) continue;
      const ran = await this.#runFile(test, file, watcher);
      results.push(...ran);
      if (ran.some(({ failure }) => failure !== undefined)) break;
    }
    return results;
  }

  async #runFile(test, file, watcher) {
    const runner = new JestRunner(this.globalConfig, this.context);
    const results = [];
    const failed = (error) => results.push({ id: `${file}: `, ms: 0, failure: String(error?.message ?? error) });
    runner.on('test-file-failure', ([, error]) => failed(error));
    runner.on('test-file-success', ([, { testResults, testExecError }]) => {
      if (testExecError) failed(testExecError);
      for (const { status, fullName, duration, failureMessages } of testResults)
        if (status === 'passed' || status === 'failed')
          results.push({
            id: `${file}: ${fullName}`,
            ms: duration ?? 0,
            failure: status === 'failed' ? failureMessages.join('\n').slice(0, 1_000) : undefined,
          });
    });
    await runner.runTests([test], watcher, { serial: true });
    return results;
  }
}

/** As the area lists them. */
function rankOf({ path }) {
  return order.findIndex((part) => path.includes(part));
}
