import { commonOptions, list, number, parseOptions } from './arguments.ts';
import { OPERATIONS, TARGETS } from './operations.ts';

/** What `--only` knows besides the operations: lists beside logins, which have a table of their own. */
const BESIDE_LOGINS = 'beside-logins';
const CHOICES = [...OPERATIONS, BESIDE_LOGINS] as const;

export const HELP = `
npm run bench [-- <options>]
npm run bench -- feed [<options>]     the change feed (each of these has its own --help)
npm run bench -- backup [<options>]   backups and restores
npm run bench -- scale [<options>]    how costs grow with the load and the number of gateways
npm run bench -- growth [<options>]   whether costs stay the same as data grows
npm run bench -- start [<options>]    how long a start takes, and what is in memory
npm run bench -- traces [<options>]   the cost of traces
npm run bench -- gateway [<options>]  federated queries, compared with other gateways
Measures the cost of requests: Taskmesh embedded and as separate processes, compared with a bare Fastify + pg server, in one run.

  --quick            short rounds, a minute or two: shows that it works, but gives only rough figures
  --only <list>      operations: ${OPERATIONS.join(', ')};
                     ${BESIDE_LOGINS}: how much 50 parallel logins slow down lists
  --targets <list>   ${TARGETS.join(', ')}
  --seconds <n>      length of one round (default 3, quick 0.3)
  --warm-up <n>      seconds of each cell before its first round (default 10, quick 0.3)
  --rounds <n>       number of rounds; the median counts (default 3)
  --connections <n>  concurrent requests (default 32)
  --name <name>      name of the file in bench/results (default: the time)
  --publish          also write the table to bench/README.md
  --profile          instead of figures, show where the servers' CPU time goes, by package and function
`;

export type Options = ReturnType<typeof readOptions>;

/** @throws UsageError */
export function readOptions(args: string[]) {
  const values = parseOptions(args, {
    texts: ['only', 'targets', 'seconds', 'warm-up', 'rounds', 'connections', 'name'],
    flags: ['quick', 'publish', 'profile'],
  });
  const chosen = list('--only', values.only, CHOICES);
  return {
    operations: chosen.filter((name) => name !== BESIDE_LOGINS),
    /** Whether lists are measured beside logins, too. */
    besideLogins: chosen.includes(BESIDE_LOGINS),
    targets: list('--targets', values.targets, TARGETS),
    seconds: number('--seconds', values.seconds ?? (values.quick ? '0.3' : '3'), { min: 0.05, max: 600 }),
    warmUpSeconds: number('--warm-up', values['warm-up'] ?? (values.quick ? '0.3' : '10'), { min: 0.05, max: 600 }),
    rounds: number('--rounds', values.rounds ?? '3', { min: 1, max: 100, isWhole: true }),
    connections: number('--connections', values.connections ?? '32', { min: 1, max: 1_000, isWhole: true }),
    profile: values.profile === true,
    ...commonOptions(values),
  };
}
