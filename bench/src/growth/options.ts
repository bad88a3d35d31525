import {
  count,
  counts,
  defineOptions,
  flag,
  list,
  NAME,
  option,
  PUBLISH,
  unlessQuick,
  wholeNumber,
} from '../arguments.ts';
import { sumOf } from '../figures.ts';

/** 10⁷ tasks are some 8 GB. */
const MOST_TASKS = 20_000_000;
const OWNER_SIZES = unlessQuick([50, 10_000, 100_000], [50, 5_000]);
const STORES = '--stores <list>';

const ABOUT = `
Checks whether the cost of requests and events stays the same as data grows: pages and CPU per request for owners of 50,
10,000 and 100,000 tasks in databases of growing size, and the cost of an event while other owners have sockets open.
`;

export const growthOptions = defineOptions('npm run bench -- growth', ABOUT, {
  quick: flag(
    '--quick',
    'about two minutes, with one database and few sockets: shows that it works; only rough figures',
  ),
  parts: list('--parts <list>', 'parts', ['requests', 'sockets']),
  ownerSizes: OWNER_SIZES,
  stores: option(
    STORES,
    'tasks in the database; 10000000 take about 8 GB and half an hour',
    ['200000,1000000', '20000'],
    (text, quick) => {
      const limits = { min: sumOf(OWNER_SIZES.read(undefined, quick)), max: MOST_TASKS };
      return text
        .split(',')
        .map((each) => wholeNumber(STORES, each, limits))
        .toSorted((one, other) => one - other);
    },
  ),
  sockets: counts('--sockets <list>', 'sockets of other owners; each needs two open files', ['100,20000', '10,200'], {
    max: 100_000,
  }),
  rounds: count('--rounds <n>', 'rounds of events; the median counts', ['3', '1']),
  /** Of requests at one cell. */
  seconds: unlessQuick(0.8, 0.2),
  /** Of events, and of watching none: gateways ping each socket once in so long. */
  eventSeconds: unlessQuick(12, 2),
  name: NAME,
  publish: PUBLISH,
});
export type GrowthOptions = ReturnType<typeof growthOptions.read>;
