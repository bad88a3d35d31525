import { setTimeout as sleep } from 'node:timers/promises';
import type { User } from '../../feed/users.ts';
import { memoryOf } from '../../hooks/ask-hook.ts';
import { createCommitter, type Committer } from '../load/committer.ts';
import { openSubscribers, type Subscribers } from '../load/subscribers.ts';
import { roundsPerS } from '../model/work.ts';
import type { Run } from './run.ts';

/** Gateways ping each socket once in so long: those that were opened together all at once. */
export const PINGS_EVERY_S = 12;
const COMMITS_PER_S = 50;
const SOCKETS_PER_OWNER = 10;
const WARM_UP_S = 2;
/** Behind the last socket's opening its subscription is still on its way. */
const SETTLED_MS = 500;

/** What sockets cost to open, to hold and to write to, and what the gateway remembers of them. */
export async function learnSockets(run: Run, roundMs: number): Promise<{ gateway: number; socket: number }> {
  const { stack, createUsers, hookDir, sockets } = run;
  const [url = ''] = stack.urls;
  const [gatewayPid = 0] = stack.gatewayPids;
  const committer = await createCommitter(stack.tasksDatabase);
  const users = await createUsers(sockets);
  const empty = await memoryOf(gatewayPid, hookDir);
  let opening: Promise<Subscribers> | undefined;
  const opened = await run.measure('sockets opened', async () => {
    await (opening = openSubscribers([{ url, users, socketsPerOwner: 1 }]));
    await sleep(SETTLED_MS);
  });
  run.learn('open', ['gateway', 'tasks', 'postgres'], { open: sockets }, opened);
  const full = await memoryOf(gatewayPid, hookDir);
  const held = await run.measure('sockets held', () => sleep(PINGS_EVERY_S * 1_000));
  run.learn('socket', ['gateway', 'tasks', 'postgres'], { socket: sockets * held.seconds }, held);
  const deliveries = { roundMs, committer };
  await learnDelivery(run, 'delivered', { ...deliveries, owners: users, perOwner: 1, subscribers: await opening });

  const [owners, perOwner] = [await createUsers(sockets / SOCKETS_PER_OWNER), SOCKETS_PER_OWNER];
  const subscribers = await openSubscribers([{ url, users: owners, socketsPerOwner: perOwner }]);
  await learnDelivery(run, 'further', { ...deliveries, owners, perOwner, subscribers });
  await committer.close();
  return { gateway: empty, socket: (full - empty) / sockets };
}

async function learnDelivery(
  run: Run,
  kind: 'delivered' | 'further',
  options: { roundMs: number; committer: Committer; owners: User[]; perOwner: number; subscribers?: Subscribers },
): Promise<void> {
  const { roundMs, committer, owners, perOwner, subscribers } = options;
  const ids = owners.map(({ id }) => id);
  const commits = (seconds: number) => committer.atRandom(ids, { perSecond: COMMITS_PER_S, seconds });
  const deliver = async (seconds: number) =>
    subscribers?.expect(COMMITS_PER_S * seconds * perOwner, () => commits(seconds));
  await deliver(WARM_UP_S);
  const taken = await run.measure(kind, () => deliver(PINGS_EVERY_S));
  const changes = COMMITS_PER_S * PINGS_EVERY_S;
  const rounds = roundsPerS(COMMITS_PER_S, roundMs) * PINGS_EVERY_S;
  const amounts = {
    ...{ socket: run.sockets * taken.seconds, change: changes, record: changes, round: rounds, fetch: rounds },
    ...{ delivered: changes, further: changes * (perOwner - 1) },
  };
  run.learn(kind, ['gateway'], amounts, taken);
  await subscribers?.close();
}
