import { amount, count, defineOptions, flag, list, NAME } from '../arguments.ts';
import { OPERATIONS } from '../operations.ts';

const ABOUT = `
Measures the cost of traces. Pairs of newly started embedded platforms take turns under the same load: one without a
collector, and one that records a share of its requests and sends it to a collector.
`;

export const tracesOptions = defineOptions('npm run bench -- traces', ABOUT, {
  quick: flag('--quick', 'short rounds, only for rough figures'),
  operations: list('--only <list>', 'operations over REST', OPERATIONS, ['get']),
  ratio: amount('--ratio <n>', 'share of traces to record; 0: a collector that gets nothing', '0.01', {
    min: 0,
    max: 0.5,
  }),
  starts: count('--starts <n>', 'how many pairs are started', ['40', '2'], { min: 2 }),
  warmUpSeconds: amount('--warm-up <n>', 'seconds of load on each before measuring', ['8', '1']),
  rounds: count('--rounds <n>', 'rounds to measure', ['10', '3'], { max: 1_000 }),
  seconds: amount('--seconds <n>', 'length of one round', ['0.5', '0.2']),
  connections: count('--connections <n>', 'concurrent requests', '32', { max: 1_000 }),
  name: NAME,
});
export type TracesOptions = ReturnType<typeof tracesOptions.read>;
