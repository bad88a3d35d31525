import { TestEnvironment } from 'jest-environment-node';

/** Skips the tests of a file behind the first that fails: one is enough, and each of the others may wait until its time is up. */
export default class extends TestEnvironment {
  #hasFailed = false;

  handleTestEvent({ name, test }) {
    if (name === 'test_fn_failure' || name === 'hook_failure') this.#hasFailed = true;
    if (name === 'test_start' && this.#hasFailed) test.mode = 'skip';
  }
}
