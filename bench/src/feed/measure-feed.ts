import { measureCost, type Cost } from '../cpu/measure-cost.ts';
import { summarise } from '../figures.ts';
import { memoryOf } from '../hooks/ask-hook.ts';
import { pidOf, type Target } from '../targets/target.ts';
import type { Turns } from '../turns.ts';
import { cellsOf, FEED_LOADS, LOADS, stretchesOf, type Cell, type Stretch } from './cells.ts';
import type { StretchFigures } from './load/feed-load.ts';
import type { FeedLoadProcess } from './load/start-feed-load.ts';
import type { FeedOptions } from './options.ts';
import type { User } from './users.ts';

/** One stretch in one round. CPU in milliseconds per delivered message. */
export interface FeedRound extends StretchFigures, Cost {
  messagesPerS: number;
  /** What the process with the sockets holds on to for each of them. */
  bytesPerSocket: number;
}

/** The medians of a stretch's rounds. */
export interface FeedMeasured extends Cell, Stretch, FeedRound {
  rounds: FeedRound[];
}

export interface MeasureFeedOptions
  extends Turns, Pick<FeedOptions, 'ways' | 'protocols' | 'loads' | 'rates' | 'sockets'> {
  targets: readonly Target[];
  load: FeedLoadProcess;
  createUsers: (count: number) => Promise<User[]>;
  /** Where the hooks of the targets write. */
  hookDir: string;
  log: (line: string) => void;
}

/** Measures each cell in each round; its stretches follow each other on the same sockets. */
export async function measureFeed(options: MeasureFeedOptions): Promise<FeedMeasured[]> {
  const { rounds, seconds, warmUpSeconds, hookDir, log } = options;
  const rows = rowsOf(options).map(({ cell, stretches }) => ({
    cell,
    stretches: stretches.map((stretch) => ({ stretch, found: new Array<FeedRound>() })),
  }));
  for (let round = 1; round <= rounds; round++)
    for (const { cell, stretches } of rows) {
      log(`round ${round}: ${cell.load}, ${cell.way}${cell.way === 'bare' ? '' : ` over ${cell.speech}`} …`);
      await withSockets(cell, { ...options, memoryIn: hookDir }, async ({ run, target, bytesPerSocket }) => {
        for (const { stretch, found } of stretches) {
          await run(stretch, warmUpSeconds);
          const taken = await measureCost(
            target,
            () => run(stretch, seconds),
            ({ messages }) => messages,
          );
          found.push({ ...taken, messagesPerS: taken.messages / taken.seconds, bytesPerSocket });
        }
      });
    }
  return rows.flatMap(({ cell, stretches }) =>
    stretches.map(({ stretch, found }) => ({ ...cell, ...stretch, ...summarise(found) })),
  );
}

/** All cells, with the stretches for which there is a source: without the separate processes there is no Kafka. */
export function rowsOf(
  options: Pick<MeasureFeedOptions, 'loads' | 'ways' | 'protocols' | 'rates' | 'targets'>,
): { cell: Cell; stretches: Stretch[] }[] {
  const { loads, rates, targets } = options;
  const cells = LOADS.filter((load) => loads.includes(load)).flatMap((load) => cellsOf({ ...options, load }));
  return cells.map((cell) => {
    const { tasksDatabase: commit, kafka, http } = targetOf(cell, targets).sources;
    const known = { commit, kafka, http };
    return { cell, stretches: stretchesOf(cell, rates).filter(({ source }) => known[source] !== undefined) };
  });
}

/** `bytesPerSocket` is NaN when it was not asked for. */
interface WithSockets {
  target: Target;
  run: (stretch: Stretch, seconds: number) => Promise<StretchFigures>;
  bytesPerSocket: number;
}

/** Opens a cell's sockets for new owners, and closes them after `use`. */
export async function withSockets(
  cell: Cell,
  options: Pick<MeasureFeedOptions, 'targets' | 'load' | 'createUsers' | 'sockets' | 'signal'> & { memoryIn?: string },
  use: (opened: WithSockets) => Promise<void>,
): Promise<void> {
  const { targets, load, createUsers, memoryIn, signal } = options;
  signal.throwIfAborted();
  const target = targetOf(cell, targets);
  const { messagesPerS, socketsPerOwner: most } = FEED_LOADS[cell.load];
  const socketsPerOwner = Math.min(most, options.sockets);
  const users = await createUsers(Math.floor(options.sockets / socketsPerOwner));
  const { url, sources } = target;
  const memory = async () => (memoryIn ? memoryOf(pidOf(target), memoryIn) : NaN);
  const before = await memory();
  await load.open({ url, sources, speech: cell.speech, users, socketsPerOwner });
  try {
    const bytesPerSocket = ((await memory()) - before) / (users.length * socketsPerOwner);
    const run: WithSockets['run'] = ({ source, rate }, seconds) => {
      signal.throwIfAborted();
      return load.run({ source, changesPerS: messagesPerS[rate] / socketsPerOwner, seconds });
    };
    await use({ target, run, bytesPerSocket });
  } finally {
    await load.close();
  }
}

function targetOf({ way }: Cell, targets: readonly Target[]): Target {
  const target = targets.find(({ name }) => name === way);
  if (!target) throw new Error(`${way} does not run.`);
  return target;
}
