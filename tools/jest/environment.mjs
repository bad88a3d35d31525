import { ModernFakeTimers } from '@jest/fake-timers';
import { ModuleMocker } from 'jest-mock';
import { differences, lookAround } from './left-behind.ts';
import { leftOpen, openHandles } from './left-open.ts';

/** Errors of a test or a hook, and uncaught ones. */
const FAILURES = new Set(['test_fn_failure', 'hook_failure', 'error']);
const TEST_TIMEOUT = Symbol.for('TEST_TIMEOUT_SYMBOL');
/** Where jest-circus keeps its state. */
const JESTS_OWN = new Set(['JEST_STATE_SYMBOL', 'EVENT_HANDLERS', 'RETRY_TIMES_SETTER', TEST_TIMEOUT.description]);

/** A failed file may leave work that goes on and opens more; later files must not be blamed for it. */
let hasAnyFailed = false;

/**
 * The process itself: tests see the globals that the product sees. So that no file changes what the next one finds, each
 * must leave them as they were, and close what it opened.
 */
export default class {
  global = globalThis;
  /** What Jest gives to a file's tests. */
  injected = {};
  #testPath;
  #jest;
  #before;
  #openBefore;
  #console;
  #exit;
  #hasRun = false;

  constructor({ projectConfig }, { testPath }) {
    this.#testPath = testPath;
    Error.stackTraceLimit = 100; // as Jest has it
    Error.prepareStackTrace = undefined;
    this.#before = lookAround();
    this.#openBefore = openHandles();
    this.#jest = createJest(projectConfig);
    this.#console = globalThis.console;
    this.#exit = process.exit;
    globalThis.jest = this.#jest;
  }

  setup() {
    // Jest's looks for a source map beside each file of a stack. Types are only blanked out here: positions are right.
    Error.prepareStackTrace = undefined;
  }

  handleTestEvent({ name }) {
    if (name === 'teardown') this.#hasRun = true;
    if (FAILURES.has(name)) hasAnyFailed = true;
  }

  async teardown() {
    this.#jest.useRealTimers();
    this.#jest.restoreAllMocks();
    const symbols = Object.getOwnPropertySymbols(globalThis).filter(({ description }) => JESTS_OWN.has(description));
    for (const name of [...Object.keys(this.injected), ...symbols, 'jest']) delete globalThis[name];
    Error.prepareStackTrace = undefined;
    globalThis.console = this.#console;
    process.exit = this.#exit;
    const left = differences(this.#before, lookAround());
    // What could not be run has an error of its own. So has what failed midway, and an error from here would take its place.
    if (!this.#hasRun || hasAnyFailed) return;
    if (left.length > 0)
      throw new Error(`${this.#testPath} must leave its process as it was. Changed are: ${left.join(', ')}.`);
    const open = await leftOpen(this.#openBefore);
    if (open.length > 0) throw new Error(`${this.#testPath} must close what it opened. Open are: ${open.join(', ')}.`);
  }

  exportConditions() {
    return ['node', 'node-addons'];
  }

  getVmContext() {
    return null;
  }
}

/** The `jest` of tests, as far as it needs no modules of its own. */
function createJest(config) {
  const mocker = new ModuleMocker(globalThis);
  const timers = new ModernFakeTimers({ config, global: globalThis });
  const bind = (object, ...names) => Object.fromEntries(names.map((name) => [name, object[name].bind(object)]));
  const jest = {
    ...bind(mocker, 'fn', 'spyOn', 'mocked', 'replaceProperty', 'isMockFunction'),
    ...bind(mocker, 'clearAllMocks', 'resetAllMocks', 'restoreAllMocks'),
    ...bind(timers, 'advanceTimersByTime', 'advanceTimersByTimeAsync', 'advanceTimersToNextTimer'),
    ...bind(timers, 'runAllTimers', 'runAllTimersAsync', 'runOnlyPendingTimers', 'runOnlyPendingTimersAsync'),
    ...bind(timers, 'getTimerCount', 'clearAllTimers', 'setSystemTime', 'now', 'useRealTimers'),
    useFakeTimers({ doNotFake = [], ...options } = {}) {
      // Node itself needs these two.
      timers.useFakeTimers({ ...options, doNotFake: [...doNotFake, 'nextTick', 'queueMicrotask'] });
      return jest;
    },
    setTimeout(ms) {
      globalThis[TEST_TIMEOUT] = ms;
      return jest;
    },
  };
  return jest;
}
