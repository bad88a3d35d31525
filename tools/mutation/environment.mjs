import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join, relative } from 'node:path';
import Environment from '../jest/environment.mjs';
import { session } from './session.mjs';

/**
 * Runs those of a file's tests that reach the mutant, up to the first that fails: one is enough, and each of the others may
 * wait until its time is up. Notes what each of them reaches.
 */
export default class extends Environment {
  #file;
  #hasFailed = false;
  #run = [];

  constructor(config, context) {
    super(config, context);
    this.#file = relative(process.cwd(), context.testPath);
    const { mutant = null, hitLimit } = session;
    this.global.__stryker__ = {
      activeMutant: mutant,
      hitCount: 0,
      hitLimit,
      mutantCoverage: { static: {}, perTest: {} },
    };
  }

  handleTestEvent({ name, test }, { rootDescribeBlock }) {
    super.handleTestEvent({ name });
    const { __stryker__: stryker } = this.global;
    if (name === 'run_start' && session.only) this.#skip(rootDescribeBlock);
    if (name === 'test_fn_failure' || name === 'hook_failure') this.#hasFailed = true;
    if (name === 'test_start') {
      if (this.#hasFailed) test.mode = 'skip';
      else stryker.currentTestId = this.#run[this.#run.push(this.#idOf(test)) - 1];
    }
    if (name === 'test_done') {
      if (stryker.currentTestId) add((stryker.mutantCoverage.perTest[stryker.currentTestId] ??= {}), ofProcesses());
      stryker.currentTestId = undefined;
    }
  }

  teardown() {
    const { hitCount, mutantCoverage } = this.global.__stryker__;
    session.hitCount += hitCount;
    // What loading the file and its hooks reach counts for each of its tests.
    add(mutantCoverage.static, ofProcesses());
    for (const id of this.#run) {
      const covered = (session.coverage[id] ??= {});
      for (const part of [mutantCoverage.perTest[id], mutantCoverage.static]) add(covered, part ?? {});
    }
    delete this.global.__stryker__;
    super.teardown();
  }

  #idOf(test) {
    const names = [];
    for (let part = test; part.parent; part = part.parent) names.unshift(part.name);
    return `${this.#file}: ${names.join(' ')}`;
  }

  #skip(block) {
    for (const child of block.children)
      if (child.type === 'describeBlock') this.#skip(child);
      else if (!session.only.has(this.#idOf(child))) child.mode = 'skip';
  }
}

/** What processes that a test started have reached: see process.mjs. */
function ofProcesses() {
  const dir = process.env.NODE_MUTATION_DIR;
  const reached = {};
  const told = readdirSync(dir).filter((name) => !name.endsWith('~'));
  for (const file of told.map((name) => join(dir, name))) {
    add(reached, JSON.parse(readFileSync(file, 'utf8')));
    rmSync(file);
  }
  return reached;
}

function add(sum, counts) {
  for (const [mutant, count] of Object.entries(counts)) sum[mutant] = (sum[mutant] ?? 0) + count;
}
