import { setTimeout as sleep } from 'node:timers/promises';
import type { User } from '../feed/users.ts';
import { combine, sumOf } from '../figures.ts';
import { memoryOf } from '../hooks/ask-hook.ts';
import { openConnections } from '../load/connections.ts';
import { inTurns, pace } from '../load/paced.ts';
import type { CalibrateOptions } from './calibrate/run.ts';
import { comeAndGo, createOwners } from './load/owners.ts';
import { openSubscribers } from './load/subscribers.ts';
import type { Coefficients } from './model/coefficients.ts';
import { workOf, type Demand } from './model/demand.ts';
import { cpuOf, type Amounts, type Cpu } from './model/work.ts';
import { stretch } from './stretch.ts';

/** What the model foretold of a mixed load at a stack, and what it took. */
export type Replay = Awaited<ReturnType<typeof replay>>;

type ReplayOptions = Pick<CalibrateOptions, 'stack' | 'population' | 'createUsers' | 'hookDir' | 'seconds'> & {
  demand: Demand;
  coefficients: Coefficients;
};

const SETTLED_MS = 1_000;

/** Two sockets for each owner, three hundred owners, who are in a hurry. */
export function replayDemand(sockets: number, like: Demand, hurry: number): Demand {
  const perHour = combine([like.perHour], ([times = 0]) => times * hurry);
  return { ...like, owners: sockets / 2, onlineShare: 1, socketsPerOnline: 2, perHour };
}

/** Does at a stack what the model says that owners do, and compares what that takes. Every answer and message counts. */
export async function replay(options: ReplayOptions) {
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
  const requests = await Promise.all(
    (['list', 'get', 'statistics', 'login'] as const).map(async (operation) => ({
      operation,
      ...(await openConnections(urls, { operation, protocol: 'rest' }, population)),
    })),
  );
  const nextVisit = inTurns(visitors.map((user, index) => () => comeAndGo(urls[index] ?? '', user)));
  const load = async (during: number) => {
    const send = (next: () => Promise<unknown>, perSecond = 0) =>
      pace(next, { perSecond, seconds: during, random: Math.random });
    const writes = Math.round((work.create ?? 0) * during) + Math.round((work.update ?? 0) * during);
    await subscribers.expect(2 * writes, () =>
      Promise.all([
        send(owners.create, work.create),
        send(owners.update, work.update),
        ...requests.map(({ operation, next }) => send(next, work[operation])),
        send(() => nextVisit()(), work.open),
      ]),
    );
  };
  await load(seconds / 3); // processes are fresh
  const taken = await stretch(stack, () => load(seconds));
  const held = await Promise.all(stack.gatewayPids.map((pid) => memoryOf(pid, hookDir)));
  await Promise.all([...requests, owners, subscribers].map((opened) => opened.close()));

  const { bytes, cpuMs } = coefficients;
  return {
    gateways,
    /** CPU-ms in a second, all processes of a part together. */
    predicted: perSecond(cpuOf(amountsOf(work, seconds, taken.seconds), cpuMs), taken.seconds),
    measured: perSecond(taken.cpu, taken.seconds),
    /** Bytes that a gateway holds on to, on the average. */
    memory: {
      predicted: bytes.gateway + ((work.socket ?? 0) / gateways) * bytes.socket,
      measured: sumOf(held) / gateways,
    },
  };
}

/** Each owner's two sockets, so that all pairs of gateways come up alike. */
function groupsOf(urls: readonly string[], users: User[]) {
  const isAt = (gateway: number, index: number) => index % urls.length === gateway;
  return urls.map((url, gateway) => ({
    url,
    users: [
      ...users.filter((_, index) => isAt(gateway, index)),
      ...users.filter((_, index) => isAt(gateway, Math.floor(index / urls.length))),
    ],
    socketsPerOwner: 1,
  }));
}

/** Requests were sent for so long; processes and sockets were there until the last answer. */
function amountsOf(work: Amounts, seconds: number, elapsed: number): Amounts {
  const { servers = 0, tasks = 0, auth = 0, gateway = 0, socket = 0, ...requests } = work;
  const standing = { servers, tasks, auth, gateway, socket };
  const times = (amounts: Amounts, by: number) => combine([amounts], ([amount = 0]) => amount * by);
  return { ...times(requests, seconds), ...times(standing, elapsed) };
}

function perSecond(cpu: Cpu, seconds: number): Cpu {
  return combine([cpu], ([ms = 0]) => ms / seconds);
}
