import { setTimeout as sleep } from 'node:timers/promises';
import { cpuMsPerSecond } from '../cpu/one-process.ts';
import type { User } from '../feed/users.ts';
import { createCommitter } from '../scale/load/committer.ts';
import { openSubscribers } from '../scale/load/subscribers.ts';
import type { GrowthServer } from './server.ts';

export type EventCost = Awaited<ReturnType<typeof measureEvents>>;

const EVENTS_PER_S = 100;
const WARM_UP_S = 2;
/** Behind the last socket's opening its subscription is still on its way. */
const SETTLED_MS = 2_000;

/** What an event costs beside so many sockets of other owners. */
export async function measureEvents(options: {
  server: GrowthServer;
  createUsers: (count: number) => Promise<User[]>;
  sockets: number;
  rounds: number;
  seconds: number;
  signal: AbortSignal;
}) {
  const { server, createUsers, sockets, rounds, seconds, signal } = options;
  const [listener] = await createUsers(1);
  if (!listener) throw new Error('Nobody listens.');
  const others = await openSubscribers([{ url: server.url, users: await createUsers(sockets), socketsPerOwner: 1 }]);
  const own = await openSubscribers([{ url: server.url, users: [listener], socketsPerOwner: 1 }]);
  const committer = await createCommitter(server.tasksUrl);
  const deliver = (forSeconds: number) =>
    own.expect(EVENTS_PER_S * forSeconds, () =>
      committer.atRandom([listener.id], { perSecond: EVENTS_PER_S, seconds: forSeconds }),
    );
  /** CPU-ms of the server for an event, of each round, without what it does for the sockets anyway; and in a second of that. */
  const cost = { sockets, perEvent: new Array<number>(), idle: new Array<number>() };
  await sleep(SETTLED_MS);
  await deliver(WARM_UP_S);
  for (let round = 0; round < rounds; round++) {
    signal.throwIfAborted();
    const idle = await cpuMsPerSecond(server.pid, () => sleep(seconds * 1_000));
    const busy = await cpuMsPerSecond(server.pid, () => deliver(seconds));
    cost.idle.push(idle);
    cost.perEvent.push((busy - idle) / EVENTS_PER_S);
  }
  await committer.close();
  await own.close();
  await others.close();
  return cost;
}
