import { commonOptions, list, number, parseOptions } from '../arguments.ts';

const PARTS = ['requests', 'sockets'] as const;
/** 10⁷ tasks are some 8 GB. */
const MOST_TASKS = 20_000_000;

export const GROWTH_HELP = `
npm run bench -- growth [<options>]
Checks whether the cost of requests and events stays the same as data grows: pages and CPU per request for owners of 50,
10,000 and 100,000 tasks in databases of growing size, and the cost of an event while other owners have sockets open.

  --quick           about a minute, with one database and few sockets: shows that it works, but gives only rough figures
  --parts <list>    ${PARTS.join(', ')} (default: all)
  --stores <list>   tasks in the database (default 200000,1000000); 10000000 take about 8 GB and half an hour
  --sockets <list>  sockets of other owners (default 100,20000); each needs two open files
  --rounds <n>      rounds of events; the median counts (default 3)
  --name <name>     name of the file in bench/results (default: the time)
  --publish         also write the tables to bench/README.md
`;

export type GrowthOptions = ReturnType<typeof readGrowthOptions>;

/** @throws UsageError */
export function readGrowthOptions(args: string[]) {
  const values = parseOptions(args, {
    texts: ['parts', 'stores', 'sockets', 'rounds', 'name'],
    flags: ['quick', 'publish'],
  });
  const { quick = false } = values;
  const numbers = (option: string, given: string, { min, max }: { min: number; max: number }) =>
    given.split(',').map((each) => number(option, each, { min, max, isWhole: true }));
  const ownerSizes = quick ? [50, 5_000] : [50, 10_000, 100_000];
  const least = ownerSizes.reduce((sum, size) => sum + size, 0);
  return {
    parts: list('--parts', values.parts, PARTS),
    ownerSizes,
    stores: numbers('--stores', values.stores ?? (quick ? '20000' : '200000,1000000'), {
      min: least,
      max: MOST_TASKS,
    }).toSorted((one, other) => one - other),
    sockets: numbers('--sockets', values.sockets ?? (quick ? '10,200' : '100,20000'), { min: 1, max: 100_000 }),
    rounds: number('--rounds', values.rounds ?? (quick ? '1' : '3'), { min: 1, max: 100, isWhole: true }),
    /** Of requests at one cell. */
    seconds: quick ? 0.2 : 0.8,
    /** Of events, and of watching none: gateways ping each socket once in so long. */
    eventSeconds: quick ? 2 : 12,
    ...commonOptions(values),
  };
}
