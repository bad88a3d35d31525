import { amount, count, defineOptions, flag, list, NAME, PROFILE, PUBLISH } from './arguments.ts';
import { OPERATIONS, TARGETS } from './operations.ts';

/** What `--only` knows besides the operations: lists beside logins, which have a table of their own. */
const BESIDE_LOGINS = 'beside-logins';

const { help, read } = defineOptions(
  'npm run bench --',
  `
npm run bench -- feed [<options>]     the change feed (each of these has its own --help)
npm run bench -- backup [<options>]   backups and restores
npm run bench -- scale [<options>]    how costs grow with the load and the number of gateways
npm run bench -- growth [<options>]   whether costs stay the same as data grows
npm run bench -- gateway [<options>]  federated queries, compared with other gateways
Measures the cost of requests: Taskmesh embedded and as separate processes, compared with a bare Fastify + pg server, in one run.
`,
  {
    quick: flag('--quick', 'short rounds, a minute or two: shows that it works, but gives only rough figures'),
    only: list('--only <list>', 'operations, and how much 50 parallel logins slow down lists', [
      ...OPERATIONS,
      BESIDE_LOGINS,
    ]),
    targets: list('--targets <list>', 'targets', TARGETS),
    seconds: amount('--seconds <n>', 'length of one round', ['3', '0.3']),
    warmUpSeconds: amount('--warm-up <n>', 'seconds of each cell before its first round', ['10', '0.3']),
    rounds: count('--rounds <n>', 'number of rounds; the median counts', '3'),
    connections: count('--connections <n>', 'concurrent requests', '32', { max: 1_000 }),
    name: NAME,
    publish: PUBLISH,
    profile: PROFILE,
  },
);

export const requestOptions = {
  help,
  read(args: string[]) {
    const { only, ...options } = read(args);
    const operations = only.filter((name) => name !== BESIDE_LOGINS);
    /** Whether lists are measured beside logins, too. */
    const besideLogins = only.includes(BESIDE_LOGINS);
    return { ...options, operations, besideLogins };
  },
};
export type Options = ReturnType<typeof requestOptions.read>;
