import { Closers } from '@taskmesh/service';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describeMachine } from '../report/machine.ts';
import { cellsOf } from './cells.ts';
import { startFeedLoad } from './load/start-feed-load.ts';
import { measureFeed, possible } from './measure-feed.ts';
import { othersSince } from './others.ts';
import type { FeedOptions } from './options.ts';
import { profileFeed } from './profile-feed.ts';
import type { FeedReport } from './report/report.ts';
import { startFeedTargets } from './targets.ts';
import { createUsers } from './users.ts';

export interface FeedRunOptions extends FeedOptions {
  dataDir: string;
  resultsDir: string;
  env: Readonly<Record<string, string | undefined>>;
  signal: AbortSignal;
  log: (line: string) => void;
}

const START_S = 30;
/** Sockets are opened, given their first change and closed. */
const AROUND_A_CELL_S = 6;

/** The whole comparison; undefined when it was a profile that was asked for. */
export async function runFeed(options: FeedRunOptions): Promise<FeedReport | undefined> {
  const { dataDir, env, log, ways, loads, rates, rounds, sockets, seconds, warmUpSeconds, profile } = options;
  const startedAt = new Date().toISOString();
  const closers = new Closers();
  try {
    const hookDir = join(dataDir, 'hooks');
    mkdirSync(hookDir, { recursive: true });
    const hook = new URL(profile ? '../profile/hook.ts' : 'memory-hook.ts', import.meta.url);
    const keysFile = join(dataDir, 'keys.json');
    const users = await createUsers(keysFile);
    const { targets, postgresVersion, stop } = await startFeedTargets(ways, {
      ...options,
      keysFile,
      env: { ...env, NODE_OPTIONS: `--import=${hook.href}`, PROFILE_DIR: hookDir },
    });
    closers.add(stop);
    const load = await startFeedLoad(join(dataDir, 'load.log'));
    closers.add(() => load.stop());
    const run = { ...options, targets, load, createUsers: users, hookDir };
    if (profile) {
      await profileFeed(run);
      return undefined;
    }
    const cells = loads.flatMap((name) => cellsOf({ ...options, load: name }));
    const stretches = cells.flatMap((cell) => possible(cell, { rates, targets })).length;
    const estimate = START_S + rounds * (cells.length * AROUND_A_CELL_S + stretches * (seconds + warmUpSeconds));
    log(`This takes about ${Math.ceil(estimate / 60)} minutes.`);
    const others = othersSince([process.pid]);
    const measured = await measureFeed(run);
    const parameters = { sockets, rounds, seconds, warmUpSeconds };
    return { startedAt, machine: describeMachine(postgresVersion), parameters, othersShare: others(), measured };
  } finally {
    await closers.closeAll();
  }
}
