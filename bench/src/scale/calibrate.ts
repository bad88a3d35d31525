import { TASK_CHANGES_TOPIC } from '@taskmesh/contracts';
import { createKafkaEventLog } from '@taskmesh/event-log';
import { createLog } from '@taskmesh/service';
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { openListeners, type Listeners } from '../feed/sockets.ts';
import { createCommitter } from '../feed/sources.ts';
import type { CreateUsers, User } from '../feed/users.ts';
import type { Operation } from '../load/calls.ts';
import { openConnections, pace, type Population } from '../load/connections.ts';
import { bytesInUse } from '../machine/memory.ts';
import { sumOf } from '../run/figures.ts';
import {
  attribute,
  cpuOf,
  type Amounts,
  type Coefficients,
  type Costs,
  type Cpu,
  type Part,
  type Work,
} from './model.ts';
import type { ScaleStack, Stretch } from './stack.ts';

export interface CalibrateOptions {
  /** A stack with one gateway. */
  stack: ScaleStack;
  population: Population;
  createUsers: CreateUsers;
  hookDir: string;
  seconds: number;
  sockets: number;
  signal: AbortSignal;
  log: (line: string) => void;
}

/** Requests per second: enough to see each cost above the idle work, and far below the capacity of two cores. */
const RATES: Record<Operation, number> = { list: 60, get: 150, statistics: 150, login: 5, create: 80, update: 80 };
/** The parts that serve a request of the REST API. */
const REST: Part[] = ['gateway', 'tasks', 'postgres'];
/** Idle work is measured for longer, because it is small and all other costs depend on it. */
const IDLE_FACTOR = 1.5;
/** A gateway that was paused catches up within this time. */
const RECOVERY_MS = 1_000;
const COMMITS_PER_S = 200;
const EXTRA_READERS = 3;
/** The interval in which gateways ping each socket; sockets that were opened together are pinged together. */
export const PINGS_EVERY_S = 12;
const DELIVERED_PER_S = 50;
const SOCKETS_PER_OWNER = 10;
const WARM_UP_S = 2;
/** The wait for subscriptions that are still in flight after the last socket has opened. */
export const SETTLED_MS = 2_000;

/**
 * Measures the cost of each kind of work, one after the other: all known costs (including idle work) are subtracted from
 * the cost of a spent, and the rest is the cost of the new kind.
 */
export async function calibrate(options: CalibrateOptions): Promise<Coefficients> {
  const { stack, population, createUsers, hookDir, seconds, sockets, signal, log } = options;
  const [url = ''] = stack.urls;
  const [gatewayPid = 0] = stack.gatewayPids;
  let costs: Costs = {};
  const measure = (what: string, work: () => Promise<unknown>): Promise<Stretch> => {
    signal.throwIfAborted();
    log(`${what} …`);
    return stack.stretch(work);
  };
  const learn = (kind: Work, parts: Part[], amounts: Amounts, spent: { seconds: number; cpu: Cpu }) =>
    (costs = attribute(costs, kind, parts, { ...idleWork(spent.seconds), ...amounts }, spent.cpu));

  const published = (count: number): Amounts => ({ change: count, record: count });

  // Warms up before anything counts.
  for (const operation of Object.keys(RATES) as Operation[]) await request(operation, seconds / 2);

  const stayIdle = () => sleep(IDLE_FACTOR * seconds * 1_000);
  process.kill(gatewayPid, 'SIGSTOP');
  const paused = await measure('idle, gateway paused', stayIdle).finally(() => process.kill(gatewayPid, 'SIGCONT'));
  learn('servers', ['kafka', 'redis', 'backup'], {}, paused);
  learn('tasks', ['tasks', 'postgres'], {}, paused);
  learn('auth', ['auth'], {}, paused);
  await sleep(RECOVERY_MS);
  const idle = await measure('idle', stayIdle);
  learn('gateway', ['gateway', 'auth', 'tasks', 'postgres', 'kafka', 'redis'], {}, idle);

  for (const operation of ['list', 'get', 'statistics'] as const) await learnRequest(operation, REST);
  await learnRequest('login', ['gateway', 'auth', 'postgres', 'redis']);
  await using closers = new AsyncDisposableStack();
  const committer = await createCommitter(stack.tasksDatabase);
  closers.defer(async () => void (await committer.close()));
  const rows = await learnRelay();
  const writes = [await learnRequest('create', REST, published), await learnRequest('update', REST, published)];
  await stack.vacuum();
  const memory = await learnSockets();

  const written = sumOf(writes.map(({ count }) => count));
  const perWrite = (key: 'changeBytes' | 'walBytes' | 'recordBytes') =>
    sumOf(writes.map((spent) => spent[key])) / written;
  const bytes = { changeBytes: perWrite('changeBytes'), walBytes: perWrite('walBytes') };
  return { cpuMs: costs, ...rows, ...memory, ...bytes, recordBytes: perWrite('recordBytes') };

  /** Sends checked requests over REST at random moments; returns how many. */
  async function request(operation: Operation, during: number): Promise<number> {
    const connections = await openConnections(stack.urls, operation, 'rest', population);
    const rate = { perSecond: RATES[operation], seconds: during, random: Math.random };
    return (await pace(connections.next, rate).finally(connections.close)).length;
  }

  async function learnRequest(operation: Operation, parts: Part[], extra: (count: number) => Amounts = () => ({})) {
    let count = 0;
    const spent = await measure(operation, async () => (count = await request(operation, seconds)));
    learn(operation, parts, { ...extra(count), [operation]: count }, spent);
    return { ...spent, count };
  }

  /**
   * Measures the path of a change from the log to the gateways, without listeners. At higher rates, the relay handles
   * more changes together, so that each costs less. Additional readers show what each of them costs Kafka.
   */
  async function learnRelay() {
    const count = COMMITS_PER_S * seconds;
    const commits = () =>
      committer.atRandom(
        Array.from({ length: count }, () => randomUUID()),
        { perSecond: COMMITS_PER_S, seconds },
      );
    await commits();
    await stack.vacuum();
    const spent = await measure('commits', commits);
    /** Only the relay's session counts for PostgreSQL; the rest is caused by the load. */
    const postgres = spent.relaySession + cpuOf(idleWork(spent.seconds), costs).postgres;
    learn('change', ['tasks', 'postgres', 'kafka'], published(count), { ...spent, cpu: { ...spent.cpu, postgres } });
    learn('record', ['gateway'], published(count), spent);
    // Marking a change leaves a dead row behind; autovacuum runs once a minute.
    const vacuum = await measure('their vacuum', stack.vacuum);

    const log = createLog({ service: 'load', level: 'warn' });
    const eventLog = createKafkaEventLog({ brokers: [stack.kafka], clientId: 'bench-readers', log });
    const readers = Array.from({ length: EXTRA_READERS }, () => eventLog.read(TASK_CHANGES_TOPIC, () => undefined));
    await Promise.all(readers.map((reader) => reader.ready()));
    const beside = await measure('commits beside more readers', commits);
    const reading = { gateway: beside.seconds * (1 + EXTRA_READERS), change: count, record: EXTRA_READERS * count };
    learn('record', ['kafka'], reading, beside);
    await eventLog.close();
    await stack.vacuum(); // otherwise it happens during another measurement
    const { change, record } = costs;
    const marked = (change?.postgres ?? 0) + vacuum.cpu.postgres / count;
    // So far, the cost of publishing in Kafka includes that of the one gateway's reading.
    const kafka = Math.max(0, (change?.kafka ?? 0) - (record?.kafka ?? 0));
    costs = { ...costs, change: { ...change, postgres: marked, kafka } };
    return { taskBytes: spent.taskBytes / count, feedBytes: spent.feedBytes / count };
  }

  /** Measures the cost of opening sockets, holding them and writing to them, and their memory in the gateway. */
  async function learnSockets() {
    const users = await createUsers(sockets);
    const empty = await bytesInUse(gatewayPid, hookDir);
    let listeners: Listeners | undefined;
    const opened = await measure('sockets opened', async () => {
      listeners = await openListeners({ kind: 'graphql-ws', groups: [{ url, users }] });
      await sleep(SETTLED_MS);
    });
    learn('open', REST, { open: sockets }, opened);
    const full = await bytesInUse(gatewayPid, hookDir);
    const holding = await measure('sockets held', () => sleep(PINGS_EVERY_S * 1_000));
    learn('socket', REST, { socket: sockets * holding.seconds }, holding);
    await learnDelivery('delivered', users, 1, listeners);
    const owners = await createUsers(sockets / SOCKETS_PER_OWNER);
    const groups = [{ url, users: owners }];
    const more = await openListeners({ kind: 'graphql-ws', groups, socketsPerOwner: SOCKETS_PER_OWNER });
    await learnDelivery('further', owners, SOCKETS_PER_OWNER, more);
    return { gatewayMiB: empty / 2 ** 20, socketKiB: (full - empty) / sockets / 1024 };
  }

  async function learnDelivery(kind: Work, owners: readonly User[], perOwner: number, listeners?: Listeners) {
    const ids = owners.map(({ id }) => id);
    const deliver = async (during: number) =>
      listeners?.expect(
        () => DELIVERED_PER_S * during * perOwner,
        () => committer.atRandom(ids, { perSecond: DELIVERED_PER_S, seconds: during }),
      );
    await sleep(SETTLED_MS);
    await deliver(WARM_UP_S);
    const spent = await measure(kind, () => deliver(PINGS_EVERY_S));
    const changes = DELIVERED_PER_S * PINGS_EVERY_S;
    const amounts = { socket: sockets * spent.seconds, delivered: changes, further: changes * (perOwner - 1) };
    learn(kind, ['gateway'], { ...published(changes), ...amounts }, spent);
    await listeners?.close();
  }
}

/** The idle work of all processes, with one of each. */
const idleWork = (seconds: number): Amounts => ({ servers: seconds, tasks: seconds, auth: seconds, gateway: seconds });
