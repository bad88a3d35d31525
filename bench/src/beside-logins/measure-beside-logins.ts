import { median } from '../figures.ts';
import type { BesideLoginsFigures } from '../load/messages.ts';
import type { Load } from '../load/start-load.ts';
import type { TargetName } from '../operations.ts';
import type { Target } from '../targets/target.ts';

export const PARALLEL_LOGINS = 50;
/** A steady load that leaves the machine room: what is looked for is what logins add to it. */
export const LISTS_PER_SECOND = 200;
/** A round is so many times as long as those of other operations: a p99 needs many answers. */
export const ROUND_FACTOR = 4;

/** How long lists take alone, and while people log in: the medians of the rounds. */
export interface BesideLogins extends BesideLoginsFigures {
  target: TargetName;
  /** How many times the p99 alone the p99 beside logins is. */
  ratio: number;
  rounds: BesideLoginsFigures[];
}

export interface BesideLoginsOptions {
  target: Pick<Target, 'name'>;
  load: Load;
  rounds: number;
  /** A round is longer by `ROUND_FACTOR`, once alone and once beside logins. */
  seconds: number;
  warmUpSeconds: number;
  signal: AbortSignal;
}

/** A target is compared with itself here, so it should be the only one that runs. It is populated. */
export async function measureBesideLogins(options: BesideLoginsOptions): Promise<BesideLogins> {
  const { target, load, rounds, seconds, warmUpSeconds, signal } = options;
  const one = (forSeconds: number) => {
    signal.throwIfAborted();
    const order = { seconds: forSeconds, listsPerSecond: LISTS_PER_SECOND, parallelLogins: PARALLEL_LOGINS };
    return load.listBesideLogins(target.name, order);
  };
  await one(warmUpSeconds / 2);
  const figures = new Array<BesideLoginsFigures>();
  while (figures.length < rounds) figures.push(await one(ROUND_FACTOR * seconds));
  return summariseBesideLogins(target.name, figures);
}

export function summariseBesideLogins(target: TargetName, rounds: BesideLoginsFigures[]): BesideLogins {
  const middle = (of: (round: BesideLoginsFigures) => number) => median(rounds.map(of));
  return {
    target,
    requests: rounds.reduce((sum, { requests }) => sum + requests, 0),
    alone: { p50Ms: middle(({ alone }) => alone.p50Ms), p99Ms: middle(({ alone }) => alone.p99Ms) },
    beside: { p50Ms: middle(({ beside }) => beside.p50Ms), p99Ms: middle(({ beside }) => beside.p99Ms) },
    ratio: middle(({ alone, beside }) => beside.p99Ms / alone.p99Ms),
    loginsPerSecond: middle(({ loginsPerSecond }) => loginsPerSecond),
    rounds,
  };
}
