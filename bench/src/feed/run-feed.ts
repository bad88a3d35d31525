import { Closers } from '@taskmesh/service';
import { join } from 'node:path';
import type { Surroundings } from '../benchmark.ts';
import { othersSince } from '../cpu/others.ts';
import { hookSettings } from '../hooks/ask-hook.ts';
import { profile } from '../profile/profile.ts';
import { describeMachine } from '../report/machine.ts';
import { serverPid } from '../targets/target.ts';
import { startFeedLoad } from './load/start-feed-load.ts';
import { measureFeed, rowsOf, withSockets, type MeasureFeedOptions } from './measure-feed.ts';
import type { FeedOptions } from './options.ts';
import type { FeedReport } from './report.ts';
import { startFeedTargets } from './targets.ts';
import { createUsers } from './users.ts';

/** The whole comparison; undefined when it was a profile that was asked for. */
export async function runFeed(options: FeedOptions & Surroundings): Promise<FeedReport | undefined> {
  const { dataDir, ways, rounds, sockets, seconds, warmUpSeconds } = options;
  const startedAt = new Date().toISOString();
  await using closers = new Closers();
  const hookDir = join(dataDir, 'hooks');
  const users = await createUsers(join(dataDir, 'keys.json'));
  const hook = hookSettings(options.profile ? 'profile' : 'memory', hookDir);
  const { targets, stop } = await startFeedTargets(ways, { ...options, settings: { ...hook, ...users.settings } });
  closers.add(stop);
  const load = await startFeedLoad(join(dataDir, 'load.log'));
  closers.add(load.stop);
  const run = { ...options, targets, load, createUsers: users.create, hookDir };
  if (options.profile) return void (await profileFeed(run));
  const others = othersSince([process.pid]);
  const measured = await measureFeed(run);
  const machine = describeMachine(targets[0]?.postgresVersion ?? '');
  return {
    startedAt,
    machine,
    parameters: { sockets, rounds, seconds, warmUpSeconds },
    othersShare: others(),
    measured,
  };
}

/** Where the time of the processes with the sockets goes. */
async function profileFeed(options: MeasureFeedOptions): Promise<void> {
  const { warmUpSeconds, seconds, hookDir, log } = options;
  for (const { cell, stretches } of rowsOf(options))
    await withSockets(cell, options, async ({ run, target }) => {
      for (const stretch of stretches) {
        await run(stretch, warmUpSeconds);
        const title = ['feed', cell.load, cell.way, cell.speech, stretch.source, stretch.rate].join('-');
        const work = async () => (await run(stretch, seconds)).messages;
        await profile({ servers: [{ title, pid: serverPid(target) }], hookDir, work, unit: 'message', log });
      }
    });
}
