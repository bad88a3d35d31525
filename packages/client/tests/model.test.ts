import { numberFromEnv } from '@taskmesh/testing';
import { runLists } from './model/run-lists.ts';
import { runPages } from './model/run-pages.ts';

const isLong = process.env.TASKMESH_LONG !== undefined;
/** LISTS_SEED sets the first seed, LISTS_RUNS the number of runs. */
const firstSeed = numberFromEnv('LISTS_SEED', 1);
const seeds = (runs: number) =>
  Array.from({ length: numberFromEnv('LISTS_RUNS', runs) }, (_, index) => firstSeed + index);

it.each(seeds(isLong ? 500 : 60))(
  'lists stay consistent and converge to the server’s state over a faulty network (seed %i)',
  (seed) => runLists(seed, isLong ? 600 : 300),
);

it.each(seeds(isLong ? 1_000 : 40))(
  'pages that share a storage lose no write, and send none twice or after a sign-out (seed %i)',
  (seed) => runPages(seed, isLong ? 500 : 300),
);
