import Sequencer from '@jest/test-sequencer';
import { relative } from 'node:path';

const ROOT = new URL('../..', import.meta.url).pathname;
const LONG = /^(tests|services\/backup\/tests)\//;

/** Before Jest knows how long each takes, those that run whole products begin: one that is left to the end is waited for alone. */
export default class extends Sequencer {
  sort(tests) {
    const isLong = ({ path, duration }) => duration === undefined && LONG.test(relative(ROOT, path));
    const sorted = super.sort(tests);
    return [...sorted.filter(isLong), ...sorted.filter((test) => !isLong(test))];
  }
}
