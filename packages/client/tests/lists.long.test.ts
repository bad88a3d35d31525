import { runLists } from './model/run-lists.ts';
import { runPages } from './model/run-pages.ts';

/** LISTS_SEED sets the first seed, LISTS_RUNS the number of runs. */
const FIRST = Number(process.env.LISTS_SEED ?? 1_000);
const RUNS = Number(process.env.LISTS_RUNS ?? 500);

it(
  'lists stay consistent and converge to the server’s state over three hundred thousand steps',
  async () => {
    for (let seed = FIRST; seed < FIRST + RUNS; seed++) await runLists(seed, 600);
  },
  20 * 60_000,
);

it(
  'pages that share a storage lose no write, and send none twice or after a sign-out, over half a million steps',
  async () => {
    for (let seed = FIRST; seed < FIRST + 2 * RUNS; seed++) await runPages(seed, 500);
  },
  20 * 60_000,
);
