import { runLists } from './model/run-lists.ts';

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
