import { sumOf, summarise } from './figures.ts';
import type { BesideLoginsFigures } from './load/beside-logins.ts';
import type { MeasureOptions } from './measure.ts';
import type { TargetName } from './operations.ts';

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
  const { target, load, rounds, seconds, warmUpSeconds, signal } = options;
  const one = (forSeconds: number) => {
    signal.throwIfAborted();
    const order = { seconds: forSeconds, listsPerSecond: LISTS_PER_SECOND, parallelLogins: PARALLEL_LOGINS };
    return load.listBesideLogins(target, order);
  };
  await one(warmUpSeconds / 2);
  const found: BesideLoginsFigures[] = [];
  while (found.length < rounds) found.push(await one(ROUND_FACTOR * seconds));
  return { target, ...summarise(found), requests: sumOf(found.map(({ requests }) => requests)) };
}
