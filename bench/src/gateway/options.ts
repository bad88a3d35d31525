import { amount, count, defineOptions, flag, list, NAME, PROFILE, PUBLISH, unlessQuick } from '../arguments.ts';
import { ENGINES } from './engines/engine.ts';
import { QUERIES } from './queries.ts';

const ABOUT =
  "Measures the cost of federated queries: Taskmesh's gateway compared with others for Node, with the graph of the public gateway benchmark.";

export const gatewayOptions = defineOptions('npm run bench -- gateway', ABOUT, {
  quick: flag('--quick', 'short rounds, only for rough figures'),
  queries: list('--only <list>', 'queries', QUERIES),
  engines: list('--targets <list>', 'gateways', ENGINES),
  seconds: amount('--seconds <n>', 'length of one round', ['3', '0.5']),
  warmUpSeconds: unlessQuick(4, 1),
  rounds: count('--rounds <n>', 'number of rounds; the median counts', ['5', '1']),
  connections: count('--connections <n>', 'concurrent requests', '32', { max: 1_000 }),
  name: NAME,
  publish: PUBLISH,
  profile: PROFILE,
});
export type GatewayOptions = ReturnType<typeof gatewayOptions.read>;
