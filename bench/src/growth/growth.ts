import { UsageError } from '@taskmesh/local';
import { Closers } from '@taskmesh/service';
import { setTimeout as sleep } from 'node:timers/promises';
import { openSubscribers } from '../feed/sockets.ts';
import { createCommitter } from '../feed/sources.ts';
import { usersFor, type CreateUsers } from '../feed/users.ts';
import { cpuMsPerSecond } from '../machine/cpu.ts';
import { pidOf, startTargets, type Target } from '../machine/targets.ts';
import type { Report, Surroundings } from '../run/benchmark.ts';
import { median, sumOf } from '../run/figures.ts';
import { amount, choice, count, counts, defineOptions } from '../run/options.ts';
import { describeOrigin, digits, table } from '../run/report.ts';
import { giveTasks, growTo, measureRequests, type RequestCost } from './requests.ts';

const ABOUT = `
Checks whether the cost of requests and events stays the same as data grows: pages and CPU per request for owners of 50,
10,000 and 50,000 tasks in databases of growing size, and the cost of an event while other owners have sockets open.
`;
const { help, read } = defineOptions('growth', ABOUT, {
  parts: choice('parts', ['requests', 'sockets']),
  owners: counts(
    'tasks of each owner',
    [
      [50, 10_000, 50_000],
      [50, 5_000],
    ],
    { max: 1_000_000 },
  ),
  stores: counts('tasks in the database; 10000000 take about 8 GB and half an hour', [[200_000, 1_000_000], [20_000]], {
    max: 20_000_000,
  }),
  sockets: counts(
    'sockets of other owners; each needs two open files',
    [
      [100, 20_000],
      [10, 200],
    ],
    { max: 100_000 },
  ),
  rounds: count('rounds of events; the median counts', [3, 1]),
  seconds: amount('of requests of one kind', [0.8, 0.2]),
  eventSeconds: amount('of events; gateways ping each socket every 12 s', [12, 2]),
});
export const options = {
  help,
  read(args: string[]) {
    const chosen = read(args);
    const stores = chosen.stores.toSorted((one, other) => one - other);
    if ((stores[0] ?? 0) >= sumOf(chosen.owners)) return { ...chosen, stores };
    throw new UsageError(`--stores must have room for the owners' ${sumOf(chosen.owners)} tasks.`);
  },
};
type Options = ReturnType<typeof options.read>;

/** Requests of small and large owners in a store that grows, then events beside more and more sockets. */
async function run(chosen: Options & Surroundings) {
  const { parts, log, signal } = chosen;
  await using closers = new Closers();
  const { env: own, createUsers } = await usersFor(chosen.dataDir, chosen.env, Math.max(...chosen.sockets));
  const env = { ...own, MAX_TASKS_PER_OWNER: '0' }; // the largest owner creates more
  const { targets } = closers.use(await startTargets(['embedded'], { ...chosen, env }));
  const [target] = targets;
  const tasksUrl = target?.sources.tasksDatabase;
  if (!target || !tasksUrl) throw new Error('Nothing runs.');

  const events: EventCost[] = [];
  for (const sockets of parts.includes('sockets') ? chosen.sockets : []) {
    log(`Events beside ${sockets} sockets …`);
    events.push(await measureEvents(target, tasksUrl, createUsers, { ...chosen, sockets }));
  }
  const requests: RequestCost[] = [];
  if (parts.includes('requests')) {
    log('Tasks of small and large owners …');
    const owners = await giveTasks(tasksUrl, await createUsers(chosen.owners.length), chosen.owners);
    for (const store of chosen.stores) {
      log(`A store of ${store} tasks …`);
      await growTo(tasksUrl, store);
      requests.push(...(await measureRequests(target, owners, { store, seconds: chosen.seconds, signal })));
    }
  }
  return { postgres: target.postgres, requests, events };
}

interface EventCost {
  sockets: number;
  /** CPU-ms of the server for an event in each round, without what it does for the sockets anyway. */
  perEvent: number[];
  /** CPU-ms a second without events. */
  idle: number[];
}

const EVENTS_PER_S = 100;
const WARM_UP_S = 2;
/** After the last socket has opened, its subscription is still on its way. */
const SETTLED_MS = 2_000;

async function measureEvents(
  target: Target,
  tasksUrl: string,
  createUsers: CreateUsers,
  {
    sockets,
    rounds,
    eventSeconds,
    signal,
  }: Pick<Options, 'rounds' | 'eventSeconds'> & { sockets: number; signal: AbortSignal },
): Promise<EventCost> {
  const listening = await createUsers(1);
  const others = await openSubscribers([{ url: target.url, users: await createUsers(sockets) }]);
  const own = await openSubscribers([{ url: target.url, users: listening }]);
  const committer = await createCommitter(tasksUrl);
  const ids = listening.map(({ id }) => id);
  const deliver = (seconds: number) =>
    own.expect(EVENTS_PER_S * seconds, () => committer.atRandom(ids, { perSecond: EVENTS_PER_S, seconds }));
  const cost: EventCost = { sockets, perEvent: [], idle: [] };
  await sleep(SETTLED_MS);
  await deliver(WARM_UP_S);
  for (let round = 0; round < rounds; round++) {
    signal.throwIfAborted();
    const idle = await cpuMsPerSecond(pidOf(target), () => sleep(eventSeconds * 1_000));
    const busy = await cpuMsPerSecond(pidOf(target), () => deliver(eventSeconds));
    cost.idle.push(idle);
    cost.perEvent.push((busy - idle) / EVENTS_PER_S);
  }
  for (const opened of [committer, own, others]) await opened.close();
  return cost;
}

const short = (amountOf: number) => amountOf.toLocaleString('en');

/** Pages and CPU of each kind of request, by owner and store, and what an event costs. */
function describe({
  requests,
  events,
  ...report
}: Report<Options, Awaited<ReturnType<typeof run>>>): Record<string, string> {
  const { rounds, seconds, eventSeconds } = report.parameters;
  const how = `requests one after the other, ${seconds} s of each · events: median of ${rounds} rounds of ${eventSeconds} s`;
  const cells = Map.groupBy(requests, ({ owner, store }) => `${short(owner)} of ${short(store)}`);
  const kinds = [...new Set(requests.map(({ kind }) => kind))];
  const requestTable = (of: (cost: RequestCost) => number) => {
    const columns = [...cells].map(([title, costs]) => {
      const figure = (kind: string) => costs.filter((cost) => cost.kind === kind).map(of)[0] ?? '';
      return [title, figure] as const;
    });
    return table(kinds, { request: (kind) => kind }, Object.fromEntries(columns));
  };
  const tables = [
    '**Pages of tasks, their keys and feeds that are read**, by tasks of the owner and of the store',
    requestTable(({ pages }) => pages),
    '**CPU-ms, server + PostgreSQL**',
    requestTable(({ server, postgres }) => server + postgres),
  ];
  const eventTable = table<EventCost>(
    events,
    { 'sockets of others': ({ sockets }) => short(sockets) },
    {
      'CPU-ms per event': ({ perEvent }) => median(perEvent),
      rounds: ({ perEvent }) => perEvent.map(digits).join(', '),
      'CPU-ms/s without events': ({ idle }) => median(idle),
    },
  );
  const parts = [
    describeOrigin(report, how),
    ...(requests.length > 0 ? tables : []),
    ...(events.length > 0 ? ['**An event of one owner, beside sockets of others**', eventTable] : []),
  ];
  return { 'growth figures': parts.join('\n\n') };
}

export const growth = { options, run, describe };
