import { Closers } from '@taskmesh/service';
import { join } from 'node:path';
import type { Surroundings } from '../benchmark.ts';
import { socketSettings } from '../feed/targets.ts';
import { createUsers } from '../feed/users.ts';
import { describeMachine } from '../report/machine.ts';
import { targetEnvironment } from '../targets/start-targets.ts';
import { measureEvents, type EventCost } from './measure-events.ts';
import { measureRequests, type RequestCost } from './measure-requests.ts';
import type { GrowthOptions } from './options.ts';
import { giveTasks, growTo } from './owners.ts';
import { startGrowthServer } from './server.ts';

/** Requests of small and large owners in a store that grows, then events beside more and more sockets. */
export async function runGrowth(options: GrowthOptions & Surroundings) {
  const { dataDir, parts, sockets, rounds, seconds, eventSeconds, log, signal } = options;
  await using closers = new Closers();
  const users = await createUsers(join(dataDir, 'keys.json'));
  const env = { ...targetEnvironment(options.env), ...users.settings, ...socketSettings(Math.max(...sockets)) };
  const server = closers.use(await startGrowthServer({ dataDir, env, log: () => undefined }));

  const owners = parts.includes('requests') ? await openOwners() : [];
  const events: EventCost[] = [];
  if (parts.includes('sockets'))
    for (const count of sockets) {
      log(`Events beside ${count} sockets …`);
      const shared = { server, createUsers: users.create, signal };
      events.push(await measureEvents({ ...shared, sockets: count, rounds, seconds: eventSeconds }));
    }
  const requests: RequestCost[] = [];
  for (const store of owners.length > 0 ? options.stores : []) {
    log(`A store of ${store} tasks …`);
    await growTo(server.tasksUrl, store, log);
    requests.push(...(await measureRequests({ server, owners, store, seconds, signal })));
  }
  return { machine: describeMachine(server.version), requests, events };

  async function openOwners() {
    log('Tasks of small and large owners …');
    return giveTasks(server.tasksUrl, await users.create(options.ownerSizes.length), options.ownerSizes);
  }
}
