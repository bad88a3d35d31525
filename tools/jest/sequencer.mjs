import Sequencer from '@jest/test-sequencer';
import { relative } from 'node:path';

const ROOT = new URL('../..', import.meta.url).pathname;
const LONG = /^(tests|services\/backup\/tests)\//;

/** Without known durations, starts with tests of whole products: a long one at the end would run alone while all else is done. */
export default class extends Sequencer {
  sort(tests) {
    const isLong = ({ path, duration }) => duration === undefined && LONG.test(relative(ROOT, path));
    const sorted = super.sort(tests);
    return [...sorted.filter(isLong), ...sorted.filter((test) => !isLong(test))];
  }
}
