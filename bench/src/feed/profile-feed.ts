import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { cpuMsOfTrees } from '../cpu/process-tree.ts';
import { describeProfile } from '../profile/run-profile.ts';
import { signalAll } from '../profile/signal-all.ts';
import { summarise } from '../profile/summary.ts';
import { cellsOf, type Cell, type Stretch } from './cells.ts';
import { possible, withSockets, type MeasureFeedOptions } from './measure-feed.ts';

export type ProfileFeedOptions = MeasureFeedOptions & { resultsDir: string };

/** Profiles the processes with the sockets, prints where their time goes, and keeps the profiles in `resultsDir`. */
export async function profileFeed(options: ProfileFeedOptions): Promise<void> {
  const { loads, targets, load, createUsers, sockets, signal } = options;
  for (const cell of loads.flatMap((name) => cellsOf({ ...options, load: name }))) {
    await withSockets(cell, { targets, load, createUsers, sockets, signal }, async ({ run, target }) => {
      for (const stretch of possible(cell, options))
        await profileStretch({ ...options, cell, stretch, pid: target.pid, run });
    });
  }
}

async function profileStretch(
  options: ProfileFeedOptions & {
    cell: Cell;
    stretch: Stretch;
    pid: number;
    run: (stretch: Stretch, seconds: number) => Promise<{ messages: number }>;
  },
): Promise<void> {
  const { cell, stretch, pid, run, warmUpSeconds, seconds, hookDir, resultsDir, log } = options;
  await run(stretch, warmUpSeconds);
  await signalAll([pid], hookDir, 'begun');
  const [before = 0] = cpuMsOfTrees([pid]);
  const { messages } = await run(stretch, seconds);
  const [after = 0] = cpuMsOfTrees([pid]);
  await signalAll([pid], hookDir, 'cpuprofile');

  const title = ['feed', cell.load, cell.way, cell.speech, stretch.source, stretch.rate].join('-');
  const file = join(hookDir, `${pid}.cpuprofile`);
  const text = readFileSync(file, 'utf8');
  mkdirSync(resultsDir, { recursive: true });
  writeFileSync(join(resultsDir, `${title}.cpuprofile`), text);
  const cpuMs = (after - before) / messages;
  log(`\n${title}: ${cpuMs.toFixed(4)} CPU-ms per message while profiled (${messages} messages)`);
  log(describeProfile(summarise(JSON.parse(text)), cpuMs));
  for (const ending of ['begun', 'cpuprofile']) rmSync(join(hookDir, `${pid}.${ending}`));
}
