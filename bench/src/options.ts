import { commonOptions, list, number, parseOptions } from './arguments.ts';
import { OPERATIONS, TARGETS } from './operations.ts';

/** What `--only` knows besides the operations: lists beside logins, which have a table of their own. */
const BESIDE_LOGINS = 'beside-logins';
const CHOICES = [...OPERATIONS, BESIDE_LOGINS] as const;

export const HELP = `
npm run bench [-- <options>]
npm run bench -- feed [<options>]     the change feed instead: --help there tells more
npm run bench -- backup [<options>]   backups and restores
npm run bench -- scale [<options>]    what grows with what, and whether a model of it is right
npm run bench -- traces [<options>]   what traces cost
npm run bench -- growth [<options>]   what grows with an owner and a store
npm run bench -- start [<options>]    how long a start takes, and what is in memory
npm run bench -- gateway [<options>]  what federated queries cost, beside other gateways
What requests cost: Taskmesh embedded and as separate processes, beside a bare Fastify + pg server, in one run.

  --quick            short rounds, a minute or two: shows that it works, good for rough figures only
  --only <list>      operations: ${OPERATIONS.join(', ')};
                     ${BESIDE_LOGINS}: how much 50 parallel logins slow down lists
  --targets <list>   ${TARGETS.join(', ')}
  --seconds <n>      length of one round (default 3, quick 0.3)
  --rounds <n>       rounds of which the median counts (default 3)
  --connections <n>  requests under way at once (default 32)
  --name <name>      of the file in bench/results (default: the time)
  --publish          also puts the table into bench/README.md
  --profile          instead of figures: where the servers' CPU time goes, by package and by function
`;

export type Options = ReturnType<typeof readOptions>;

/** @throws UsageError */
export function readOptions(args: string[]) {
  const values = parseOptions(args, {
    texts: ['only', 'targets', 'seconds', 'rounds', 'connections', 'name'],
    flags: ['quick', 'publish', 'profile'],
  });
  const chosen = list('--only', values.only, CHOICES);
  return {
    operations: chosen.filter((name) => name !== BESIDE_LOGINS),
    /** Whether lists are measured beside logins, too. */
    besideLogins: chosen.includes(BESIDE_LOGINS),
    targets: list('--targets', values.targets, TARGETS),
    seconds: number('--seconds', values.seconds ?? (values.quick ? '0.3' : '3'), { min: 0.05, max: 600 }),
    warmUpSeconds: values.quick ? 0.3 : 2,
    rounds: number('--rounds', values.rounds ?? '3', { min: 1, max: 100, isWhole: true }),
    connections: number('--connections', values.connections ?? '32', { min: 1, max: 1_000, isWhole: true }),
    profile: values.profile === true,
    ...commonOptions(values),
  };
}
