import { ModernFakeTimers } from '@jest/fake-timers';
import { ModuleMocker } from 'jest-mock';
import { differences, recordSurroundings } from './left-behind.ts';
import { leftOpen, openHandles } from './left-open.ts';

/** Events for errors in a test or a hook, and for uncaught errors. */
const FAILURES = new Set(['test_fn_failure', 'hook_failure', 'error']);
/** Events for the end of a test. */
const TEST_ENDS = new Set(['test_done', 'test_skip', 'test_todo']);
const TEST_TIMEOUT = Symbol.for('TEST_TIMEOUT_SYMBOL');
/** The globals in which jest-circus keeps its state. */
const JESTS_OWN = new Set(['JEST_STATE_SYMBOL', 'EVENT_HANDLERS', 'RETRY_TIMES_SETTER', TEST_TIMEOUT.description]);

/** The global with what the running test, or the file, has registered by `atEnd` of libs/testing. */
const CLEAN_UPS = Symbol.for('taskmesh.cleanUps');

/** Work of a failed file may continue and open more handles, for which later files must not be blamed. */
let hasAnyFailed = false;

/**
 * Runs tests in the process itself, with the same globals as the product. To keep files independent, each must leave the
 * globals as they were, and close what it opened.
 */
export default class {
  global = globalThis;
  /** The globals that Jest gives to a file's tests. */
  injected = {};
  #testPath;
  #jest;
  #before;
  #openBefore;
  #console;
  #exit;
  #hasRun = false;
  #cleanUps = [];

  constructor({ projectConfig }, { testPath }) {
    this.#testPath = testPath;
    Error.stackTraceLimit = 100; // as in Jest
    Error.prepareStackTrace = undefined;
    this.#before = recordSurroundings();
    this.#openBefore = openHandles();
    this.#jest = createJest(projectConfig);
    this.#console = globalThis.console;
    this.#exit = process.exit;
    globalThis.jest = this.#jest;
    globalThis[CLEAN_UPS] = this.#cleanUps;
  }

  setup() {
    // Jest's function looks for a source map of each file in a stack. We only blank out types, so positions are right anyway.
    Error.prepareStackTrace = undefined;
  }

  async handleTestEvent({ name }) {
    if (name === 'teardown') this.#hasRun = true;
    if (FAILURES.has(name)) hasAnyFailed = true;
    if (name === 'test_start') globalThis[CLEAN_UPS] = [];
    if (!TEST_ENDS.has(name)) return;
    await cleanUp(globalThis[CLEAN_UPS]);
    globalThis[CLEAN_UPS] = this.#cleanUps;
  }

  async teardown() {
    this.#jest.useRealTimers();
    this.#jest.restoreAllMocks();
    await cleanUp(this.#cleanUps);
    delete globalThis[CLEAN_UPS];
    const symbols = Object.getOwnPropertySymbols(globalThis).filter(({ description }) => JESTS_OWN.has(description));
    for (const name of [...Object.keys(this.injected), ...symbols, 'jest']) delete globalThis[name];
    Error.prepareStackTrace = undefined;
    globalThis.console = this.#console;
    process.exit = this.#exit;
    const left = differences(this.#before, recordSurroundings());
    // A file that could not run, or failed midway, has an error of its own, which an error from here would replace.
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

/** Each has a minute. A failed one does not prevent the others from running. */
async function cleanUp(cleanUps) {
  const errors = [];
  for (const each of cleanUps.reverse()) {
    const timeout = Promise.withResolvers();
    const timer = setTimeout(() => timeout.reject(new Error(`This did not end within a minute: ${each}`)), 60_000);
    await Promise.race([Promise.try(each), timeout.promise]).catch((error) => errors.push(error));
    clearTimeout(timer);
  }
  if (errors.length === 1) throw errors[0];
  if (errors.length > 1) throw new AggregateError(errors, errors.join('\n'));
}

/** Creates the tests' `jest` object, without the functions that need Jest's own module system. */
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
