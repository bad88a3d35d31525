import { Closers } from '@taskmesh/service';
import { join } from 'node:path';
import type { Surroundings } from '../benchmark.ts';
import { bytesOf } from '../cpu/one-process.ts';
import type { Protocol } from '../feed/cells.ts';
import { startFeedLoad, type FeedLoadProcess } from '../feed/load/start-feed-load.ts';
import { startFeedTargets } from '../feed/targets.ts';
import { createUsers, type Users } from '../feed/users.ts';
import { combine } from '../figures.ts';
import { hookSettings, memoryOf } from '../hooks/ask-hook.ts';
import { pidOf, type Target } from '../targets/target.ts';
import type { StartOptions } from './options.ts';

/** What one subscriber adds, in bytes; without the kernel's part. */
export type SubscriberMemory = Awaited<ReturnType<typeof measureOne>>;

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

async function measureOne(protocol: Protocol, options: Pick<StartOptions, 'sockets'> & Surroundings) {
  const [few, many] = options.sockets;
  const { dataDir } = options;
  await using closers = new Closers();
  const hookDir = join(dataDir, 'hooks');
  const hook = hookSettings('memory', hookDir); // makes the directory
  const users = await createUsers(join(dataDir, 'keys.json'));
  const settings = { ...hook, ...users.settings };
  const { targets } = closers.use(await startFeedTargets(['embedded'], { ...options, sockets: many, settings }));
  const [target] = targets;
  if (!target) throw new Error('The platform does not run.');
  const load = closers.use(await startFeedLoad(join(dataDir, 'load.log')));

  const shared = { protocol, target, load, users, hookDir };
  await memoryWith(few, shared); // what the first ones of all leave in the platform belongs to none
  const less = await memoryWith(few, shared);
  const more = await memoryWith(many, shared);
  return { protocol, ...combine([more, less], ([after = 0, before = 0]) => (after - before) / (many - few)) };
}

/** With so many subscribers, each of whom has got a change. */
async function memoryWith(
  count: number,
  options: { protocol: Protocol; target: Target; load: FeedLoadProcess; users: Users; hookDir: string },
) {
  const { protocol, target, load, users, hookDir } = options;
  const { url, sources } = target;
  await load.open({ url, sources, speech: protocol, users: await users.create(count), socketsPerOwner: 1 });
  try {
    /** In V8's heap and what belongs to it, garbage collected; and of the process' own memory. */
    const held = await memoryOf(pidOf(target), hookDir);
    return { held, resident: bytesOf(pidOf(target), 'RssAnon') };
  } finally {
    await load.close();
  }
}
