import { amount, count, defineOptions, flag, list, NAME, PROFILE, PUBLISH, unlessQuick } from '../arguments.ts';
import { TARGETS } from '../operations.ts';
import { LOADS, PROTOCOLS, RATES, type Rate } from './cells.ts';

const ABOUT = `
Measures the cost and latency of delivering a change: Taskmesh embedded and as separate processes with Kafka, over each
protocol, compared with a bare ws server that does nothing else.
`;

export const feedOptions = defineOptions('npm run bench -- feed', ABOUT, {
  quick: flag('--quick', 'few sockets and short phases, about two minutes: shows that it works; only rough figures'),
  protocols: list('--only <list>', 'protocols', PROTOCOLS),
  ways: list('--targets <list>', 'targets', TARGETS),
  loads: list('--loads <list>', 'loads', LOADS),
  rates: unlessQuick<readonly Rate[]>(RATES, ['usual']),
  sockets: count('--sockets <n>', 'sockets; ulimit -n must allow as many open files', ['2000', '200'], { max: 20_000 }),
  seconds: amount('--seconds <n>', 'length of one phase', ['4', '1']),
  warmUpSeconds: unlessQuick(2, 0.5),
  rounds: count('--rounds <n>', 'number of rounds; the median counts', ['3', '1']),
  name: NAME,
  publish: PUBLISH,
  profile: PROFILE,
});
export type FeedOptions = ReturnType<typeof feedOptions.read>;
