import { fileName, list, number, parseOptions } from '../arguments.ts';
import { LOADS, PROTOCOLS, WAYS, type LoadName, type Protocol, type Rate, type Way } from './cells.ts';

export const FEED_HELP = `
npm run bench -- feed [<options>]
What it costs to deliver a change, and how long it takes: Taskmesh embedded and as separate processes with Kafka, over
each protocol, beside a bare ws server that does nothing else.

  --quick            200 sockets and short stretches, about two minutes: shows that it works, good for rough figures only
  --only <list>      protocols: ${PROTOCOLS.join(', ')}
  --targets <list>   ${WAYS.join(', ')}
  --loads <list>     ${LOADS.join(', ')}
  --sockets <n>      (default 2000, quick 200; the process may open as many files: ulimit -n)
  --seconds <n>      length of one stretch (default 4, quick 1)
  --rounds <n>       rounds of which the median counts (default 3, quick 1)
  --name <name>      of the file in bench/results (default: the time)
  --publish          also puts the tables into bench/README.md
  --profile          instead of figures: where the servers' CPU time goes, by package and by function
`;

export interface FeedOptions {
  protocols: Protocol[];
  ways: Way[];
  loads: LoadName[];
  rates: Rate[];
  sockets: number;
  seconds: number;
  warmUpSeconds: number;
  rounds: number;
  name: string | undefined;
  publish: boolean;
  profile: boolean;
  help: boolean;
}

/** @throws UsageProblem */
export function readFeedOptions(args: string[]): FeedOptions {
  const values = parseOptions(args, {
    texts: ['only', 'targets', 'loads', 'sockets', 'seconds', 'rounds', 'name'],
    flags: ['quick', 'publish', 'profile'],
  });
  const isQuick = values.quick === true;
  return {
    protocols: list('--only', values.only, PROTOCOLS),
    ways: list('--targets', values.targets, WAYS),
    loads: list('--loads', values.loads, LOADS),
    rates: isQuick ? ['usual'] : ['usual', 'high'],
    sockets: number('--sockets', values.sockets ?? (isQuick ? '200' : '2000'), { min: 1, max: 20_000, isWhole: true }),
    seconds: number('--seconds', values.seconds ?? (isQuick ? '1' : '4'), { min: 0.05, max: 600 }),
    warmUpSeconds: isQuick ? 0.5 : 2,
    rounds: number('--rounds', values.rounds ?? (isQuick ? '1' : '3'), { min: 1, max: 100, isWhole: true }),
    name: fileName(values.name),
    publish: values.publish === true,
    profile: values.profile === true,
    help: values.help === true,
  };
}
