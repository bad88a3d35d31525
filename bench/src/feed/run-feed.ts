import { Closers } from '@taskmesh/service';
import { join } from 'node:path';
import type { Surroundings } from '../benchmark.ts';
import { hookSettings } from '../hooks/ask-hook.ts';
import { profile } from '../profile/profile.ts';
import { describeMachine } from '../report/machine.ts';
import { pidOf } from '../targets/target.ts';
import { startFeedLoad } from './load/start-feed-load.ts';
import { measureFeed, rowsOf, withSockets, type MeasureFeedOptions } from './measure-feed.ts';
import type { FeedOptions } from './options.ts';
import { startFeedTargets } from './targets.ts';
import { createUsers } from './users.ts';

/** The whole comparison; undefined when it was a profile that was asked for. */
export async function runFeed(options: FeedOptions & Surroundings) {
  const { dataDir, ways } = options;
  await using closers = new Closers();
  const hookDir = join(dataDir, 'hooks');
  const users = await createUsers(join(dataDir, 'keys.json'));
  const hook = hookSettings(options.profile ? 'profile' : 'memory', hookDir);
  const { targets } = closers.use(
    await startFeedTargets(ways, { ...options, settings: { ...hook, ...users.settings } }),
  );
  const load = closers.use(await startFeedLoad(join(dataDir, 'load.log')));
  const run = { ...options, targets, load, createUsers: users.create, hookDir };
  if (options.profile) return void (await profileFeed(run));
  const machine = describeMachine(targets[0]?.postgresVersion ?? '');
  return { machine, measured: await measureFeed(run) };
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
        await profile({ servers: [{ title, pid: pidOf(target) }], hookDir, work, unit: 'message', log });
      }
    });
}
