import { setTimeout as sleep } from 'node:timers/promises';
import { memoryOf } from '../feed/memory.ts';
import type { User } from '../feed/users.ts';
import type { Population } from '../load/population.ts';
import { atRandom } from './load/at-random.ts';
import { comeAndGo, createOwners } from './load/owners.ts';
import { openRequests } from './load/requests.ts';
import { openSubscribers } from './load/subscribers.ts';
import type { Coefficients } from './model/coefficients.ts';
import { workOf, type Demand } from './model/demand.ts';
import { cpuOf, PARTS, type Amounts, type Cpu } from './model/work.ts';
import { stretch } from './stretch.ts';
import type { ScaleStack } from './stack.ts';

/** What the model foretold of a mixed load at a stack, and what it took. */
export interface Replay {
  gateways: number;
  /** CPU-ms in a second, all processes of a part together. */
  predicted: Cpu;
  measured: Cpu;
  /** Bytes that a gateway holds on to, on the average. */
  memory: { predicted: number; measured: number };
}

export interface ReplayOptions {
  stack: ScaleStack;
  demand: Demand;
  coefficients: Coefficients;
  population: Population;
  createUsers: (count: number) => Promise<User[]>;
  hookDir: string;
  seconds: number;
}

const SETTLED_MS = 1_000;

/** Two sockets for each owner, three hundred owners, who are in a hurry. */
export function replayDemand(sockets: number, like: Demand, hurry: number): Demand {
  const perHour = Object.fromEntries(Object.entries(like.perHour).map(([name, times]) => [name, times * hurry]));
  return {
    ...like,
    ...{ owners: sockets / 2, onlineShare: 1, socketsPerOnline: 2 },
    perHour: perHour as Demand['perHour'], // the same names
  };
}

/** Does at a stack what the model says that owners do, and compares what that takes. Every answer and message counts. */
export async function replay(options: ReplayOptions): Promise<Replay> {
  const { stack, demand, coefficients, population, createUsers, hookDir, seconds } = options;
  const { urls } = stack;
  const gateways = urls.length;
  const work = workOf(demand, { gateways, tasks: 1, auth: 1 }, coefficients.roundMs);
  const users = await createUsers(demand.owners);
  const visitors = await createUsers(urls.length);
  const subscribers = await openSubscribers(groupsOf(urls, users));
  await sleep(SETTLED_MS);
  const owners = createOwners(urls.toReversed(), users);
  await subscribers.expect(2 * users.length, owners.begin);
  const [lists, gets, statistics, logins] = await Promise.all(
    (['list', 'get', 'statistics', 'login'] as const).map((operation) => openRequests(urls, operation, population)),
  );
  let turn = 0;
  const visit = () => {
    const index = turn++ % urls.length;
    const [url, user] = [urls[index], visitors[index]];
    return url && user ? comeAndGo(url, user) : Promise.resolve();
  };
  const load = async (during: number) => {
    const at = (perSecond = 0) => ({ perSecond, seconds: during });
    const writes = Math.round((work.create ?? 0) * during) + Math.round((work.update ?? 0) * during);
    await subscribers.expect(2 * writes, () =>
      Promise.all([
        atRandom(owners.create, at(work.create)),
        atRandom(owners.update, at(work.update)),
        atRandom(async () => lists?.next(), at(work.list)),
        atRandom(async () => gets?.next(), at(work.get)),
        atRandom(async () => statistics?.next(), at(work.statistics)),
        atRandom(async () => logins?.next(), at(work.login)),
        atRandom(visit, at(work.open)),
      ]),
    );
  };
  await load(seconds / 3); // processes are fresh
  const taken = await stretch(stack, () => load(seconds));
  const held = await Promise.all(stack.gatewayPids.map((pid) => memoryOf(pid, hookDir)));
  await Promise.all([lists, gets, statistics, logins, owners, subscribers].map((opened) => opened?.close()));

  const { bytes, cpuMs } = coefficients;
  return {
    gateways,
    predicted: perSecond(cpuOf(amountsOf(work, seconds, taken.seconds), cpuMs), taken.seconds),
    measured: perSecond(taken.cpu, taken.seconds),
    memory: {
      predicted: bytes.gateway + ((work.socket ?? 0) / gateways) * bytes.socket,
      measured: held.reduce((sum, each) => sum + each, 0) / gateways,
    },
  };
}

/** Each owner's two sockets, so that all pairs of gateways come up alike. */
function groupsOf(urls: readonly string[], users: User[]) {
  const placed = [
    ...users.map((user, index) => ({ user, gateway: index % urls.length })),
    ...users.map((user, index) => ({ user, gateway: Math.floor(index / urls.length) % urls.length })),
  ];
  return urls.flatMap((url, gateway) => {
    const here = placed.filter((each) => each.gateway === gateway).map(({ user }) => user);
    const [once, twice] = [new Set(here), here.filter((user, index) => here.indexOf(user) !== index)];
    const single = [...once].filter((user) => !twice.includes(user));
    return [
      { url, users: single, socketsPerOwner: 1 },
      { url, users: twice, socketsPerOwner: 2 },
    ].filter((group) => group.users.length > 0);
  });
}

/** Requests were sent for so long; processes and sockets were there until the last answer. */
function amountsOf(work: Amounts, seconds: number, elapsed: number): Amounts {
  const { servers = 0, tasks = 0, auth = 0, gateway = 0, socket = 0, ...rest } = work;
  const standing = { servers, tasks, auth, gateway, socket };
  const times = (amounts: Amounts, by: number) =>
    Object.fromEntries(Object.entries(amounts).map(([kind, amount]) => [kind, amount * by]));
  return { ...times(rest, seconds), ...times(standing, elapsed) };
}

function perSecond(cpu: Cpu, seconds: number): Cpu {
  const all = { ...cpu };
  for (const part of PARTS) all[part] /= seconds;
  return all;
}
