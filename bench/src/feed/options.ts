import { commonOptions, list, number, parseOptions } from '../arguments.ts';
import { TARGETS } from '../operations.ts';
import { LOADS, PROTOCOLS, RATES } from './cells.ts';

export const FEED_HELP = `
npm run bench -- feed [<options>]
Measures the cost and latency of delivering a change: Taskmesh embedded and as separate processes with Kafka, over each
protocol, compared with a bare ws server that does nothing else.

  --quick            200 sockets and short phases, about two minutes: shows that it works, but gives only rough figures
  --only <list>      protocols: ${PROTOCOLS.join(', ')}
  --targets <list>   ${TARGETS.join(', ')}
  --loads <list>     ${LOADS.join(', ')}
  --sockets <n>      number of sockets (default 2000, quick 200); ulimit -n must allow as many open files
  --seconds <n>      length of one phase (default 4, quick 1)
  --rounds <n>       number of rounds; the median counts (default 3, quick 1)
  --name <name>      name of the file in bench/results (default: the time)
  --publish          also write the tables to bench/README.md
  --profile          instead of figures, show where the servers' CPU time goes, by package and function
`;

export type FeedOptions = ReturnType<typeof readFeedOptions>;

/** @throws UsageError */
export function readFeedOptions(args: string[]) {
  const values = parseOptions(args, {
    texts: ['only', 'targets', 'loads', 'sockets', 'seconds', 'rounds', 'name'],
    flags: ['quick', 'publish', 'profile'],
  });
  const { quick = false, sockets, seconds, rounds } = values;
  return {
    protocols: list('--only', values.only, PROTOCOLS),
    ways: list('--targets', values.targets, TARGETS),
    loads: list('--loads', values.loads, LOADS),
    rates: RATES.filter((rate) => rate === 'usual' || !quick),
    sockets: number('--sockets', sockets ?? (quick ? '200' : '2000'), { min: 1, max: 20_000, isWhole: true }),
    seconds: number('--seconds', seconds ?? (quick ? '1' : '4'), { min: 0.05, max: 600 }),
    warmUpSeconds: quick ? 0.5 : 2,
    rounds: number('--rounds', rounds ?? (quick ? '1' : '3'), { min: 1, max: 100, isWhole: true }),
    profile: values.profile === true,
    ...commonOptions(values),
  };
}
