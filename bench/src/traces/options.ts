import { amount, amounts, count, defineOptions, flag, list, NAME, PUBLISH } from '../arguments.ts';
import { OPERATIONS } from '../operations.ts';

const ABOUT = `
Measures the cost of traces: one embedded platform with a collector records a share of its requests in every other slice of
time, and nothing in between.
`;

export const tracesOptions = defineOptions('npm run bench -- traces', ABOUT, {
  quick: flag('--quick', 'a few short slices: shows that it works, good for rough figures only'),
  operations: list('--only <list>', 'operations over REST', OPERATIONS, ['get']),
  shares: amounts('--shares <list>', 'shares of the requests that are recorded, one after the other', '0.01,0.1', {
    min: 0.001,
    max: 1,
  }),
  warmUpSeconds: amount('--warm-up <n>', 'seconds before the slices that count, for each share', ['30', '1']),
  pairs: count('--pairs <n>', 'slices with recording, each beside one without', ['400', '5'], { min: 2, max: 10_000 }),
  seconds: amount('--seconds <n>', 'length of a slice', '0.2'),
  connections: count('--connections <n>', 'concurrent requests', '32', { max: 1_000 }),
  name: NAME,
  publish: PUBLISH,
});
export type TracesOptions = ReturnType<typeof tracesOptions.read>;
