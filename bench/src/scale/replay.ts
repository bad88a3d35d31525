import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'undici';
import { openListeners, titleOf } from '../feed/sockets.ts';
import type { User } from '../feed/users.ts';
import { send, taskInput, type Call } from '../load/calls.ts';
import { roundRobin, openConnections, pace } from '../load/connections.ts';
import { bytesInUse } from '../machine/memory.ts';
import { combine, sumOf } from '../run/figures.ts';
import { SETTLED_MS, type CalibrateOptions } from './calibrate.ts';
import { cpuOf, workOf, type Coefficients, type Demand } from './model.ts';

/** The predicted and the measured cost of a mixed load at a stack. */
export type Replay = Awaited<ReturnType<typeof replay>>;

/** A demand with two sockets per owner; each owner does everything `factor` times as often. */
export function replayDemand(sockets: number, profile: Demand, factor: number): Demand {
  const perHour = combine([profile.perHour], ([each = 0]) => each * factor);
  return { ...profile, owners: sockets / 2, onlineShare: 1, socketsPerOnline: 2, perHour };
}

/** Runs the modelled load at a stack. Checks every response and message. */
export async function replay(
  options: Pick<CalibrateOptions, 'stack' | 'population' | 'createUsers' | 'hookDir' | 'seconds'> & {
    demand: Demand;
    coefficients: Coefficients;
  },
) {
  const { stack, demand, coefficients, population, createUsers, hookDir, seconds } = options;
  const { urls } = stack;
  const gateways = urls.length;
  const work = workOf(demand, { gateways, tasks: 1, auth: 1 });
  const users = await createUsers(demand.owners);
  const visitors = await createUsers(gateways);
  const kind = 'graphql-ws';
  const listeners = await openListeners({ kind, groups: groupsOf(urls, users) });
  await sleep(SETTLED_MS);
  const owners = createOwners(urls.toReversed(), users);
  await listeners.expect(() => 2 * users.length, owners.begin);
  const requests = await Promise.all(
    (['list', 'get', 'statistics', 'login'] as const).map(async (operation) => ({
      ...{ perSecond: work[operation], ...(await openConnections(urls, operation, 'rest', population)) },
    })),
  );
  const nextVisit = roundRobin(visitors.map((user, index) => ({ url: urls[index] ?? '', users: [user] })));
  const load = async (during: number) => {
    const at = (perSecond: number, next: () => Promise<unknown>) =>
      pace(next, { perSecond, seconds: during, random: Math.random });
    const writes = Math.round(work.create * during) + Math.round(work.update * during);
    await listeners.expect(
      () => 2 * writes,
      () =>
        Promise.all([
          ...[
            at(work.create, owners.create),
            at(work.update, owners.update),
            at(work.open, async () => (await openListeners({ kind, groups: [nextVisit()] })).close()),
          ],
          ...requests.map(({ perSecond, next }) => at(perSecond, next)),
        ]),
    );
  };
  await load(seconds / 3); // warms up the processes
  const spent = await stack.stretch(() => load(seconds));
  const inUse = await Promise.all(stack.gatewayPids.map((pid) => bytesInUse(pid, hookDir)));
  await Promise.all([...requests, owners, listeners].map((opened) => opened.close()));

  // Requests were sent for `seconds`; processes and sockets existed until the last response.
  const { servers, tasks, auth, gateway, socket, ...sent } = work;
  const share = combine([sent], ([amount = 0]) => (amount * seconds) / spent.seconds);
  const { gatewayMiB, socketKiB, cpuMs } = coefficients;
  return {
    gateways,
    /** CPU-ms per second, for all processes of a part together. */
    predicted: cpuOf({ servers, tasks, auth, gateway, socket, ...share }, cpuMs),
    measured: combine([spent.cpu], ([ms = 0]) => ms / spent.seconds),
    /** MiB in use at a gateway, on average. */
    memory: {
      predicted: gatewayMiB + ((socket / gateways) * socketKiB) / 1024,
      measured: sumOf(inUse) / gateways / 2 ** 20,
    },
  };
}

/** Assigns each owner's two sockets so that all pairs of gateways are equally frequent. */
function groupsOf(urls: readonly string[], users: User[]) {
  const isAt = (gateway: number, index: number) => index % urls.length === gateway;
  return urls.map((url, gateway) => ({
    url,
    users: [
      ...users.filter((_, index) => isAt(gateway, index)),
      ...users.filter((_, index) => isAt(gateway, Math.floor(index / urls.length))),
    ],
  }));
}

/** Users who write over REST, with titles that listeners can recognise. */
function createOwners(urls: readonly string[], users: readonly User[]) {
  let n = 0;
  const nextUrl = roundRobin(urls);
  const owners = users.map(({ token }, index) => {
    const client = new Client(nextUrl());
    let firstId = '';
    const write = async ({ body, ...call }: Call): Promise<string> => {
      const title = titleOf(++n);
      const text = await send(client, { ...call, token, body: { ...body, title } });
      const { data } = JSON.parse(text) as { data: { id: string; title: string } };
      if (data.title !== title) throw new Error(`A write had an unexpected response: ${text.slice(0, 500)}`);
      return data.id;
    };
    const create = () => write({ request: 'POST /api/tasks', status: 201, body: taskInput(index) });
    const update = () => write({ request: `PATCH /api/tasks/${firstId}`, body: { completed: n % 2 === 0 } });
    return { create, update, begin: async () => void (firstId = await create()), close: () => client.close() };
  });
  const next = roundRobin(owners);
  return {
    /** Creates the first task of each. */
    begin: () => Promise.all(owners.map((owner) => owner.begin())),
    create: () => next().create(),
    /** Changes the next owner's first task. */
    update: () => next().update(),
    close: () => Promise.all(owners.map((owner) => owner.close())),
  };
}
