import { sumOf, summarise } from './figures.ts';
import type { BesideLoginsFigures } from './load/beside-logins.ts';
import type { MeasureOptions } from './measure.ts';
import type { TargetName } from './operations.ts';
import { measureByTurns } from './turns.ts';

export const PARALLEL_LOGINS = 50;
/** A steady load that leaves the machine room: what is looked for is what logins add to it. */
export const LISTS_PER_SECOND = 200;
/** A round is so many times as long as those of other operations: a p99 needs many answers. */
export const ROUND_FACTOR = 4;

/** How long lists take alone, and while people log in: the medians of the rounds. */
export interface BesideLogins extends BesideLoginsFigures {
  target: TargetName;
  rounds: BesideLoginsFigures[];
}

/** A target is compared with itself here, so it should be the only one that runs. It is populated. */
export async function measureBesideLogins(
  options: Omit<MeasureOptions, 'targets' | 'operations' | 'log'> & { target: TargetName },
): Promise<BesideLogins> {
  const { target, load } = options;
  const turns = { ...options, seconds: ROUND_FACTOR * options.seconds, warmUpSeconds: options.warmUpSeconds / 2 };
  const order = { listsPerSecond: LISTS_PER_SECOND, parallelLogins: PARALLEL_LOGINS };
  const taken = await measureByTurns([target], turns, (at, seconds) =>
    load.listBesideLogins(at, { ...order, seconds }),
  );
  const found = taken.flatMap(([, rounds]) => rounds);
  return { target, ...summarise(found), requests: sumOf(found.map(({ requests }) => requests)) };
}
