import { runLists } from './model/run-lists.ts';

/** LISTS_SEED begins elsewhere, LISTS_RUNS says for how long. */
const FIRST = Number(process.env.LISTS_SEED ?? 1_000);
const RUNS = Number(process.env.LISTS_RUNS ?? 500);

it(
  'lists stay sorted and converge to the server’s state over three hundred thousand steps',
  async () => {
    for (let seed = FIRST; seed < FIRST + RUNS; seed++) await runLists(seed, 600);
  },
  20 * 60_000,
);
