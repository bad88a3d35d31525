import { Closers } from '@taskmesh/service';
import { join } from 'node:path';
import type { Surroundings } from '../benchmark.ts';
import { residentOf } from '../cpu/resident.ts';
import type { Protocol } from '../feed/cells.ts';
import { startFeedLoad, type FeedLoadProcess } from '../feed/load/start-feed-load.ts';
import { startFeedTargets } from '../feed/targets.ts';
import { createUsers, type Users } from '../feed/users.ts';
import { hookSettings, memoryOf } from '../hooks/ask-hook.ts';
import { serverPid, type Target } from '../targets/target.ts';
import type { StartOptions } from './options.ts';

/** What one subscriber adds, in bytes; without the kernel's part. */
export interface SubscriberMemory {
  protocol: Protocol;
  /** To V8's heap and what belongs to it, garbage collected. */
  held: number;
  /** To the process' own memory. */
  resident: number;
}

/** A fresh platform for each protocol: nothing that it has learnt from others counts. */
export async function measureSubscribers(
  options: Pick<StartOptions, 'protocols' | 'sockets'> & Surroundings,
): Promise<SubscriberMemory[]> {
  const found: SubscriberMemory[] = [];
  for (const protocol of options.protocols) {
    options.log(`${options.sockets.join(' and ')} subscribers over ${protocol} …`);
    found.push(await measureOne(protocol, { ...options, dataDir: join(options.dataDir, protocol) }));
  }
  return found;
}

async function measureOne(
  protocol: Protocol,
  options: Pick<StartOptions, 'sockets'> & Surroundings,
): Promise<SubscriberMemory> {
  const [few, many] = options.sockets;
  const { dataDir } = options;
  await using closers = new Closers();
  const hookDir = join(dataDir, 'hooks');
  const hook = hookSettings('memory', hookDir); // makes the directory
  const users = await createUsers(join(dataDir, 'keys.json'));
  const settings = { ...hook, ...users.settings };
  const { targets, stop } = await startFeedTargets(['embedded'], { ...options, sockets: many, settings });
  closers.add(stop);
  const [target] = targets;
  if (!target) throw new Error('The platform does not run.');
  const load = await startFeedLoad(join(dataDir, 'load.log'));
  closers.add(load.stop);

  const shared = { protocol, target, load, users, hookDir };
  await memoryWith(few, shared); // what the first ones of all leave in the platform belongs to none
  const less = await memoryWith(few, shared);
  const more = await memoryWith(many, shared);
  const each = (of: (memory: Memory) => number) => (of(more) - of(less)) / (many - few);
  return { protocol, held: each(({ held }) => held), resident: each(({ resident }) => resident) };
}

interface Memory {
  held: number;
  resident: number;
}

/** With so many subscribers, each of whom has got a change. */
async function memoryWith(
  count: number,
  options: { protocol: Protocol; target: Target; load: FeedLoadProcess; users: Users; hookDir: string },
): Promise<Memory> {
  const { protocol, target, load, users, hookDir } = options;
  const { url, sources } = target;
  await load.open({ url, sources, speech: protocol, users: await users.create(count), socketsPerOwner: 1 });
  try {
    const held = await memoryOf(serverPid(target), hookDir);
    return { held, resident: residentOf(serverPid(target)).own };
  } finally {
    await load.close();
  }
}
