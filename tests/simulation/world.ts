import type { FeedPosition, TasksInternal } from '@taskmesh/internal-api';
import { createMemoryEventLog } from '@taskmesh/event-log';
import { createParts, type PreparedOperation } from '@taskmesh/federation';
import {
  buildSupergraph,
  createFeed,
  createLargeResponses,
  createLiveGraph,
  createSessionWatch,
  createAccountShares,
  createSubscriptions,
  createTasksChannel,
  type Caller,
  type GatewayContext,
  type Graph,
  type RequestCall,
  type TransportMetrics,
} from '@taskmesh/gateway/simulated';
import { createHeartbeats } from '@taskmesh/realtime-protocol';
import { createLog } from '@taskmesh/service';
import {
  createCursors,
  createFeedRepository,
  createFeedService,
  createRelay,
  createRelayRepository,
  RELAY_BACKOFF,
  type RelayMetrics,
} from '@taskmesh/tasks/simulated';
import { parse, type OperationDefinitionNode } from 'graphql';
import { readFileSync } from 'node:fs';
import { createDatabase, type Meanings } from './database.ts';
import { createDeletions } from './deletions.ts';
import { createFaults } from './faults.ts';
import { createStore, type Store } from './store.ts';
import type { VirtualTime } from './virtual-time.ts';

const log = createLog({ service: 'simulation', level: 'silent' });
const supergraph = buildSupergraph(
  readFileSync(new URL('../../services/gateway/supergraph.graphql', import.meta.url), 'utf8'),
);
const TASK = '{ id title version owner { id } }';
/** Selects a field of another service, which returns the cursor that it was requested with. */
const NESTED_TASK = '{ id title version owner { id tasks(first: 1, after: $after) { changesCursor } } }';

const NO_METRICS: TransportMetrics & RelayMetrics = {
  ...{ connected: () => () => {}, subscribed: () => () => {}, delivered: () => {}, failed: () => {} },
  ...{ watchOwners: () => {}, published: () => {}, deadLettered: () => {} },
};

const AWAY = { message: 'away', extensions: { code: 'SERVICE_UNAVAILABLE' } };

function prepare(task: string): PreparedOperation {
  const source = `subscription ($after: String) { taskChanges(after: $after) { sequence kind cursor task ${task} previous ${TASK} } }`;
  const document = parse(source);
  const operation = document.definitions[0] as OperationDefinitionNode; // the only one
  const parsed = { id: source, source, schema: supergraph.schema, document, operation, operationName: undefined };
  return { ...parsed, settledId: () => source, partOf: createParts(), bytes: 0, cost: () => 1 };
}

/** Breaks parts of the simulated world, to prove that its checks detect it. */
export interface Tamper {
  /** Changes the calls from the gateway to tasks. */
  tasks?: (tasks: TasksInternal) => TasksInternal;
  /** Changes the results of statements. */
  meanings?: (meanings: Meanings, store: Store) => Meanings;
}

interface WorldOptions {
  random: () => number;
  owners: readonly string[];
  /** Whether accounts are deleted in this world. */
  hasDeletions: boolean;
  tamper: Tamper | undefined;
}

export type World = Awaited<ReturnType<typeof createWorld>>;

/** Connects the product's real code, from the relay to the protocols, with a simulated store and simulated clients. */
export async function createWorld(time: VirtualTime, { random, owners, hasDeletions, tamper = {} }: WorldOptions) {
  const store = createStore(time, random);
  const faults = createFaults(time, random, owners);
  const complaints: string[] = [];
  let tokens = 0;
  const complain = (what: string) => void complaints.push(what);
  const tampered = (meanings: Meanings) => tamper.meanings?.(meanings, store) ?? meanings;
  const database = createDatabase(store, tampered, complain);
  /** The position of every cursor that was ever sealed. */
  const positions = new Map<string, FeedPosition & { owner: string }>();
  const feeds = createFeedRepository(database);
  const sealing = createCursors(feeds);
  const cursors = {
    ...sealing,
    async seal(owner: string, position: FeedPosition) {
      const cursor = await sealing.seal(owner, position);
      positions.set(cursor, { ...position, owner });
      return cursor;
    },
  };
  const eventLog = createMemoryEventLog();
  const tasks = { ...createFeedService(feeds, cursors), reportUnreadable: async () => undefined };
  const relay = createRelay({
    // Implements the part of a database that the relay uses.
    repository: createRelayRepository(database as unknown as Parameters<typeof createRelayRepository>[0]),
    eventLog: faults.publishingTo(eventLog),
    cursors,
    metrics: NO_METRICS,
    backoff: RELAY_BACKOFF,
    clock: time.clock,
    monotonicMs: time.now,
    sleep: time.sleep,
    log,
  });
  const reachable = faults.tasks(tamper.tasks?.(tasks) ?? tasks);
  const feed = createFeed({ eventLog: faults.readingFrom(eventLog), tasks: reachable, log, random });
  const execute = (request: Parameters<typeof positionsAsked>[0]) =>
    faults.call('foreign', async () => positionsAsked(request));
  const settle = (operation: PreparedOperation) => operation;
  const graph = { supergraph, settle, services: { tasks: { execute } } } as unknown as Graph; // no queries run here
  const shares = createAccountShares(0);
  const subscriptions = createSubscriptions({
    feed,
    graph: createLiveGraph({ initial: graph, build: () => graph }),
    clock: time.clock,
    metrics: NO_METRICS,
    shares,
    memory: { isShort: () => false },
    blockingWork: { run: async (_network, work) => work() },
    largeResponses: createLargeResponses(),
    formatResult: ({ data, errors }) => (errors?.length ? { data, errors: errors.map(() => AWAY) } : { data }),
  });

  const channel = createTasksChannel({
    shares,
    context: {
      log,
      clock: time.clock,
      memory: { isShort: () => false },
      config: { realtime: { anonKey: undefined, maxSubscriptions: 20, maxSocketsPerUser: 20, maxMessagesPerS: 20 } },
      authenticateToken: (token: string, { graceS } = { graceS: 0 }) =>
        faults.call('authenticate', async () => callerOf(token, time.clock.now() - graceS * 1_000)),
    } as unknown as GatewayContext, // the part that channels use
    feed,
    // No sessions end here, and no keys are removed.
    watch: createSessionWatch({
      clock: time.clock,
      endedSessions: { has: () => false, onEnded: () => () => {} },
      accessKeys: { isCurrent: () => true, onRemoved: () => () => {} },
    }),
    reserveUser: () => () => undefined,
    heartbeats: createHeartbeats(),
    limitAge: () => () => {}, // no limit
    metrics: NO_METRICS,
  });

  await relay.start();
  await feed.start();
  const deletions = hasDeletions
    ? createDeletions({ time, store, database, faults, eventLog, onCommitted: relay.wake })
    : undefined;

  return {
    ...{ time, random, store, faults, deletions, feed, subscriptions, channel, complaints },
    operations: { plain: prepare(TASK), nested: prepare(NESTED_TASK) },
    complain,
    commit(owner: string) {
      if (store.commit(owner)) relay.wake(owner);
      else if (!deletions?.isDeleted(owner)) complain(`${owner} was refused a write`);
    },
    /** Returns the current cursor, as a client gets it with its list. */
    cursorOf: (owner: string) => cursors.seal(owner, { epoch: store.epoch(), sequence: store.head(owner) }),
    positionOf: (cursor: string) => positions.get(cursor) ?? { owner: '', epoch: 0, sequence: 0 },
    tokenOf: (owner: string, lifeMs: number) => `a.${owner}_${time.clock.now() + lifeMs}_${++tokens}.z`,
    callOf: (owner: string): RequestCall => ({
      identity: { role: 'user', userId: owner, sessionId: 'session' },
      ...{ requestId: '', traceparent: undefined, ip: '', onEndedSessions: () => {} },
    }),
    async stop() {
      await Promise.all([relay.stop(), feed.stop(), deletions?.stop()]);
    },
  };
}

function callerOf(token: string, now: number): Caller {
  const [userId = '', expiry = ''] = token.split('.')[1]?.split('_') ?? [];
  if (Number(expiry) <= now) return { kind: 'invalid' };
  const claims = { userId, sid: token, exp: Number(expiry) / 1_000 };
  return { kind: 'user', claims: claims as never, identity: { role: 'user', userId, sessionId: token } }; // nothing else is read
}

/** Simulates another service, which returns the cursor that it was requested with. */
function positionsAsked({ variables }: { variables: { after?: string; representations: unknown[] } }) {
  const { after, representations } = variables;
  return { data: { _entities: representations.map(() => ({ tasks: { changesCursor: after } })) } };
}
