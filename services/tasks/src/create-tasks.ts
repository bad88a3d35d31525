import { asUnavailable, createSchemaGate, storeHealth } from '@taskmesh/store';
import { createSubgraph, readTypeDefs, type AccountsInternal } from '@taskmesh/internal-api';
import type { EventLog } from '@taskmesh/event-log';
import { closeOnStop, inOrder, timeOrderedIds, type Clock, type Log } from '@taskmesh/service';
import { Registry } from 'prom-client';
import type { TasksConfig } from './config.ts';
import { createTasksDatabase } from './database.ts';
import { createCursors } from './feed/cursors.ts';
import { createFeedRepository } from './feed/feed.repository.ts';
import { beginNewEpoch, createFeedService } from './feed/feed.service.ts';
import { createHousekeeping } from './housekeeping.ts';
import { createTasksImport } from './import/create-tasks-import.ts';
import { createAccountLogReader, createClosedOwners, createOwnerEraser } from './owners/closed-owners.ts';
import { createRelayMetrics, watchClosedOwners } from './metrics.ts';
import { createOwnerRepository } from './owners/owner.repository.ts';
import { createDeadLetterRepository } from './relay/dead-letter.repository.ts';
import { createDeadLetterService } from './relay/dead-letter.service.ts';
import { createRelayRepository } from './relay/relay.repository.ts';
import { createRelay } from './relay/relay.ts';
import { createTasksStatus } from './status.ts';
import { createTaskRepository } from './tasks/task.repository.ts';
import { createTaskService } from './tasks/task.service.ts';
import { createTasksResolvers } from './tasks/tasks.resolvers.ts';

/** Migrations use separate connections. */
const IMPORT_POOL_SIZE = 1;

export interface TasksDeps {
  clock: Clock;
  log: Log;
  /** The caller closes it. */
  eventLog: EventLog;
  /** The source of account deletions. */
  accounts: AccountsInternal;
  metrics?: Registry;
}

export type Tasks = Awaited<ReturnType<typeof createTasks>>;

/** Creates the whole service. `start` checks the schema and starts publishing; it listens on no port. */
export async function createTasks(config: TasksConfig, deps: TasksDeps) {
  const { clock, log, eventLog, accounts, metrics = new Registry() } = deps;
  const database = await createTasksDatabase({ url: config.postgresUrl, poolSize: config.poolSize, log });
  database.measure(metrics);
  const feeds = createFeedRepository(database);
  const cursors = createCursors(feeds);
  const repositories = { relay: createRelayRepository(database), deadLetters: createDeadLetterRepository(database) };
  const relay = createRelay({
    ...{ repository: repositories.relay, eventLog, cursors, metrics: createRelayMetrics(metrics, repositories) },
    ...{ backoff: config.relay, clock, log },
  });
  const deadLetters = createDeadLetterService({ repository: repositories.deadLetters, onReplayed: relay.wakeAll, log });
  const owners = createOwnerRepository(database);
  const eraser = createOwnerEraser({ repository: owners, onCommitted: relay.wake, clock, log });
  const closedOwners = createClosedOwners({
    reader: createAccountLogReader({ repository: owners, accounts, onClosed: () => closedOwners.wake() }),
    ...{ eraser, log },
  });
  watchClosedOwners(metrics, { repository: owners, readAgeMs: closedOwners.readAgeMs });
  const repository = createTaskRepository({ database, maxTasks: config.maxTasksPerOwner });
  const { changeRetentionMs } = config;
  const housekeeping = createHousekeeping({ feeds, tasks: repository, changeRetentionMs, clock, log });
  const tasks = createTaskService({
    repository,
    signCursor: cursors.seal,
    onCommitted: relay.wake,
    clock,
    ids: timeOrderedIds, // new rows are adjacent in the indexes
  });
  const subgraph = createSubgraph({
    name: 'tasks',
    typeDefs: readTypeDefs(import.meta.dirname),
    resolvers: createTasksResolvers(tasks),
    mapError: asUnavailable,
    log,
  });
  const schema = createSchemaGate({ database, policy: config.schema, log });
  const parts = inOrder([closeOnStop(() => database.close()), ...[schema, relay, closedOwners, housekeeping]]);

  return {
    subgraph,
    internal: { ...createFeedService(feeds, cursors), reportUnreadable: deadLetters.note },
    /** For operators; the caller checks that the client is one. */
    operators: createTasksStatus({
      database,
      feed: feeds,
      ...repositories,
      eventLog,
      relayFailingSeconds: relay.failingSeconds,
      clock,
    }),
    deadLetters,
    /** Only for the backup service. */
    restore: createTasksImport({
      url: config.postgresUrl,
      databaseAt: (url) => createTasksDatabase({ url, name: 'tasks-import', poolSize: IMPORT_POOL_SIZE, log }),
      log,
      newEpoch: (atLeast) => beginNewEpoch(feeds, { nowMs: clock.now(), atLeast }),
    }),
    ...parts,
    /** `ok` when the database is reachable and has our schema. The event log is not required: without it, the feed is only late. */
    ready: () =>
      storeHealth(database, schema, { eventLog: relay.isPublishing(), relayParts: relay.leasedParts().length }),
    /** Deletes the remaining rows of deleted accounts now, as far as possible. */
    processDeletions: closedOwners.processAll,
    /** Deletes expired rows now rather than with the next run (once a minute). */
    housekeep: housekeeping.sweep,
  };
}
