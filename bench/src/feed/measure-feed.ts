import { cpuMsOfTrees } from '../cpu/process-tree.ts';
import { cellsOf, FEED_LOADS, LOADS, stretchesOf, type Cell, type Stretch } from './cells.ts';
import { summariseFeed, type FeedMeasured, type FeedRound } from './figures.ts';
import type { FeedLoadProcess } from './load/start-feed-load.ts';
import type { StretchFigures } from './load/messages.ts';
import { memoryOf } from './memory.ts';
import type { FeedOptions } from './options.ts';
import type { FeedRole, FeedTarget } from './targets.ts';
import type { User } from './users.ts';

export interface MeasureFeedOptions extends Pick<
  FeedOptions,
  'ways' | 'protocols' | 'loads' | 'rates' | 'sockets' | 'seconds' | 'warmUpSeconds' | 'rounds'
> {
  targets: readonly FeedTarget[];
  load: FeedLoadProcess;
  createUsers: (count: number) => Promise<User[]>;
  /** Where the memory hooks of the targets write. */
  hookDir: string;
  signal: AbortSignal;
  log: (line: string) => void;
}

/** Measures each cell in each round; its stretches follow each other on the same sockets. */
export async function measureFeed(options: MeasureFeedOptions): Promise<FeedMeasured[]> {
  const { loads, rounds, log } = options;
  const rows = LOADS.filter((load) => loads.includes(load))
    .flatMap((load) => cellsOf({ ...options, load }))
    .flatMap((cell) => ({
      cell,
      stretches: possible(cell, options).map((stretch) => ({ stretch, found: new Array<FeedRound>() })),
    }));
  for (let round = 1; round <= rounds; round++) {
    for (const { cell, stretches } of rows) {
      log(`round ${round}: ${cell.load}, ${cell.way}${cell.way === 'bare' ? '' : ` over ${cell.speech}`} …`);
      await withSockets(cell, options, async ({ run, target, bytesPerSocket }) => {
        for (const { stretch, found } of stretches)
          found.push({ ...(await runStretch(stretch, { ...options, target, run })), bytesPerSocket });
      });
    }
  }
  return rows.flatMap(({ cell, stretches }) =>
    stretches.map(({ stretch, found }) => summariseFeed(cell, stretch, found)),
  );
}

/** The stretches of a cell for which there is a source: without the separate processes there is no Kafka. */
export function possible(cell: Cell, { rates, targets }: Pick<MeasureFeedOptions, 'rates' | 'targets'>): Stretch[] {
  const { sources } = targetOf(cell, targets);
  const known = { commit: sources.tasksDatabase, kafka: sources.kafka, http: sources.http };
  return stretchesOf(cell, rates).filter(({ source }) => known[source] !== undefined);
}

interface WithSockets {
  target: FeedTarget;
  run: (stretch: Stretch, seconds: number) => Promise<StretchFigures>;
  bytesPerSocket: number;
}

/** Opens a cell's sockets for new owners, and closes them after `use`. */
export async function withSockets(
  cell: Cell,
  options: Pick<MeasureFeedOptions, 'targets' | 'load' | 'createUsers' | 'sockets' | 'signal'> & { hookDir?: string },
  use: (opened: WithSockets) => Promise<void>,
): Promise<void> {
  const { targets, load, createUsers, hookDir, signal } = options;
  signal.throwIfAborted();
  const target = targetOf(cell, targets);
  const { messagesPerS, socketsPerOwner: most } = FEED_LOADS[cell.load];
  const socketsPerOwner = Math.min(most, options.sockets);
  const users = await createUsers(Math.floor(options.sockets / socketsPerOwner));
  const { url, sources, pid } = target;
  const before = hookDir ? await memoryOf(pid, hookDir) : NaN;
  await load.open({ url, sources, speech: cell.speech, users, socketsPerOwner });
  try {
    const after = hookDir ? await memoryOf(pid, hookDir) : NaN;
    const bytesPerSocket = (after - before) / (users.length * socketsPerOwner);
    const run: WithSockets['run'] = ({ source, rate }, seconds) => {
      signal.throwIfAborted();
      return load.run({ source, changesPerS: messagesPerS[rate] / socketsPerOwner, seconds });
    };
    await use({ target, run, bytesPerSocket });
  } finally {
    await load.close();
  }
}

async function runStretch(
  stretch: Stretch,
  options: Pick<MeasureFeedOptions, 'warmUpSeconds' | 'seconds'> & Pick<WithSockets, 'run' | 'target'>,
): Promise<Omit<FeedRound, 'bytesPerSocket'>> {
  const { target, run, warmUpSeconds, seconds } = options;
  const pids = target.parts.map(({ pid }) => pid);
  await run(stretch, warmUpSeconds);
  await target.settle();
  const before = cpuMsOfTrees(pids);
  const figures = await run(stretch, seconds);
  await target.settle();
  const after = cpuMsOfTrees(pids);
  const cpu: Record<FeedRole, number> = { sockets: 0, inner: 0, postgres: 0, redis: 0, kafka: 0 };
  target.parts.forEach(({ role }, index) => {
    cpu[role] += ((after[index] ?? 0) - (before[index] ?? 0)) / figures.messages;
  });
  return { ...figures, cpu };
}

function targetOf({ way }: Cell, targets: readonly FeedTarget[]): FeedTarget {
  const target = targets.find((known) => known.way === way);
  if (!target) throw new Error(`${way} does not run.`);
  return target;
}
