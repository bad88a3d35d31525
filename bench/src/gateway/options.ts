import { commonOptions, list, number, parseOptions } from '../arguments.ts';
import { ENGINES } from './engines/engine.ts';
import { QUERIES } from './queries.ts';

export const GATEWAY_HELP = `
npm run bench -- gateway [<options>]
Measures the cost of federated queries: Taskmesh's gateway compared with others for Node, with the graph of the public gateway benchmark.

  --quick            short rounds, only for rough figures
  --only <list>      queries: ${QUERIES.join(', ')}
  --targets <list>   ${ENGINES.join(', ')}
  --seconds <n>      length of one round (default 3, quick 0.5)
  --rounds <n>       number of rounds; the median counts (default 5, quick 1)
  --connections <n>  concurrent requests (default 32)
  --name <name>      name of the file in bench/results (default: the time)
  --publish          also write the table to bench/README.md
  --profile          instead of figures, show where the gateways' CPU time goes, by package and function
`;

export type GatewayOptions = ReturnType<typeof readGatewayOptions>;

/** @throws UsageError */
export function readGatewayOptions(args: string[]) {
  const values = parseOptions(args, {
    texts: ['only', 'targets', 'seconds', 'rounds', 'connections', 'name'],
    flags: ['quick', 'publish', 'profile'],
  });
  const { quick = false, seconds, rounds } = values;
  return {
    queries: list('--only', values.only, QUERIES),
    engines: list('--targets', values.targets, ENGINES),
    seconds: number('--seconds', seconds ?? (quick ? '0.5' : '3'), { min: 0.05, max: 600 }),
    warmUpSeconds: quick ? 1 : 4,
    rounds: number('--rounds', rounds ?? (quick ? '1' : '5'), { min: 1, max: 100, isWhole: true }),
    connections: number('--connections', values.connections ?? '32', { min: 1, max: 1_000, isWhole: true }),
    profile: values.profile === true,
    ...commonOptions(values),
  };
}
