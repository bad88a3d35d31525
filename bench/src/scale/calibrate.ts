import { TASK_CHANGES_TOPIC } from '@taskmesh/contracts';
import { createKafkaEventLog } from '@taskmesh/event-log';
import { Closers, createLog } from '@taskmesh/service';
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
  /** With one gateway. */
  stack: ScaleStack;
  population: Population;
  createUsers: CreateUsers;
  hookDir: string;
  seconds: number;
  sockets: number;
  signal: AbortSignal;
  log: (line: string) => void;
}

/** In a second: enough to see each cost above what processes do anyway, and far below what two cores can do. */
const RATES: Record<Operation, number> = { list: 60, get: 150, statistics: 150, login: 5, create: 80, update: 80 };
const REST: Part[] = ['gateway', 'tasks', 'postgres'];
/** What processes do while idle is little, and all other costs depend on it: it is measured for longer. */
const LONGER = 1.5;
/** After it was held, a gateway catches up at once. */
const RECOVERY_MS = 1_000;
const COMMITS_PER_S = 200;
const EXTRA_READERS = 3;
/** Gateways ping each socket once in so long: those that were opened together all at once. */
export const PINGS_EVERY_S = 12;
const DELIVERED_PER_S = 50;
const SOCKETS_PER_OWNER = 10;
const WARM_UP_S = 2;
/** After the last socket has opened, its subscription is still on its way. */
export const SETTLED_MS = 2_000;

/**
 * What each kind of work costs, one after the other: all known costs (also what processes do while idle) are subtracted
 * from what a stretch took, and the rest is the new kind's.
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
  const learn = (kind: Work, parts: Part[], amounts: Amounts, taken: { seconds: number; cpu: Cpu }) =>
    (costs = attribute(costs, kind, parts, { ...standing(taken.seconds), ...amounts }, taken.cpu));

  const published = (count: number): Amounts => ({ change: count, record: count });

  // What is slow the first times is so before anything counts.
  for (const operation of Object.keys(RATES) as Operation[]) await request(operation, seconds / 2);

  const rest = () => sleep(LONGER * seconds * 1_000);
  process.kill(gatewayPid, 'SIGSTOP');
  const held = await measure('nothing, the gateway held', rest).finally(() => process.kill(gatewayPid, 'SIGCONT'));
  learn('servers', ['kafka', 'redis', 'backup'], {}, held);
  learn('tasks', ['tasks', 'postgres'], {}, held);
  learn('auth', ['auth'], {}, held);
  await sleep(RECOVERY_MS);
  const idle = await measure('nothing', rest);
  learn('gateway', ['gateway', 'auth', 'tasks', 'postgres', 'kafka', 'redis'], {}, idle);

  for (const operation of ['list', 'get', 'statistics'] as const) await learnRequest(operation, REST);
  await learnRequest('login', ['gateway', 'auth', 'postgres', 'redis']);
  await using closers = new Closers();
  const committer = await createCommitter(stack.tasksDatabase);
  closers.add(committer.close);
  const rows = await learnRelay();
  const writes = [await learnRequest('create', REST, published), await learnRequest('update', REST, published)];
  await stack.vacuum();
  const memory = await learnSockets();

  const written = sumOf(writes.map(({ count }) => count));
  const perWrite = (of: 'changeBytes' | 'walBytes' | 'recordBytes') =>
    sumOf(writes.map((taken) => taken[of])) / written;
  const bytes = { changeBytes: perWrite('changeBytes'), walBytes: perWrite('walBytes') };
  return { cpuMs: costs, ...rows, ...memory, ...bytes, recordBytes: perWrite('recordBytes') };

  /** Sends checked requests over REST at random moments; returns how many. */
  async function request(operation: Operation, during: number): Promise<number> {
    const connections = await openConnections(stack.urls, operation, 'rest', population);
    const rate = { perSecond: RATES[operation], seconds: during, random: Math.random };
    return (await pace(connections.next, rate).finally(connections.close)).length;
  }

  async function learnRequest(operation: Operation, parts: Part[], besides: (count: number) => Amounts = () => ({})) {
    let count = 0;
    const taken = await measure(operation, async () => (count = await request(operation, seconds)));
    learn(operation, parts, { ...besides(count), [operation]: count }, taken);
    return { ...taken, count };
  }

  /**
   * The way of a change from the log to the gateways, without listeners. At higher rates more changes share what the relay
   * does at once, and each costs less. More readers show what each of them costs Kafka.
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
    const taken = await measure('commits', commits);
    /** Of PostgreSQL the relay's session alone: the rest is the load's. */
    const postgres = taken.relaySession + cpuOf(standing(taken.seconds), costs).postgres;
    learn('change', ['tasks', 'postgres', 'kafka'], published(count), { ...taken, cpu: { ...taken.cpu, postgres } });
    learn('record', ['gateway'], published(count), taken);
    // Each change leaves a dead row behind when it is marked; autovacuum comes once a minute.
    const vacuum = await measure('their vacuum', stack.vacuum);

    const log = createLog({ service: 'load', level: 'warn' });
    const eventLog = createKafkaEventLog({ brokers: [stack.kafka], clientId: 'bench-readers', log });
    const readers = Array.from({ length: EXTRA_READERS }, () => eventLog.read(TASK_CHANGES_TOPIC, () => undefined));
    await Promise.all(readers.map((reader) => reader.ready()));
    const beside = await measure('commits beside more readers', commits);
    const reading = { gateway: beside.seconds * (1 + EXTRA_READERS), change: count, record: EXTRA_READERS * count };
    learn('record', ['kafka'], reading, beside);
    await eventLog.close();
    await stack.vacuum(); // or it happens while something else is measured
    const { change, record } = costs;
    const marked = (change?.postgres ?? 0) + vacuum.cpu.postgres / count;
    // So far the one gateway is part of what publishing costs Kafka.
    const kafka = Math.max(0, (change?.kafka ?? 0) - (record?.kafka ?? 0));
    costs = { ...costs, change: { ...change, postgres: marked, kafka } };
    return { taskBytes: taken.taskBytes / count, feedBytes: taken.feedBytes / count };
  }

  /** What sockets cost to open, to hold and to write to, and what the gateway keeps for them. */
  async function learnSockets() {
    const users = await createUsers(sockets);
    const empty = await bytesInUse(gatewayPid, hookDir);
    let listeners: Listeners | undefined;
    const opened = await measure('sockets opened', async () => {
      listeners = await openListeners({ speech: 'graphql-ws', groups: [{ url, users }] });
      await sleep(SETTLED_MS);
    });
    learn('open', REST, { open: sockets }, opened);
    const full = await bytesInUse(gatewayPid, hookDir);
    const holding = await measure('sockets held', () => sleep(PINGS_EVERY_S * 1_000));
    learn('socket', REST, { socket: sockets * holding.seconds }, holding);
    await learnDelivery('delivered', users, 1, listeners);
    const owners = await createUsers(sockets / SOCKETS_PER_OWNER);
    const groups = [{ url, users: owners }];
    const more = await openListeners({ speech: 'graphql-ws', groups, socketsPerOwner: SOCKETS_PER_OWNER });
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
    const taken = await measure(kind, () => deliver(PINGS_EVERY_S));
    const changes = DELIVERED_PER_S * PINGS_EVERY_S;
    const amounts = { socket: sockets * taken.seconds, delivered: changes, further: changes * (perOwner - 1) };
    learn(kind, ['gateway'], { ...published(changes), ...amounts }, taken);
    await listeners?.close();
  }
}

/** What all processes do while idle, with one of each. */
const standing = (seconds: number): Amounts => ({ servers: seconds, tasks: seconds, auth: seconds, gateway: seconds });
