import { type TaskChanged, GRAPH_FIELDS, parseTaskChanged, TASK_CHANGES_TOPIC } from '@taskmesh/contracts';
import type { Identity } from '@taskmesh/identity';
import type { AccountsInternal } from '@taskmesh/internal-api';
import { createMemoryEventLog, type EventLog } from '@taskmesh/event-log';
import type { Backoff, Clock, Log } from '@taskmesh/service';
import type { SubgraphResult } from '@taskmesh/subgraph';
import { atEnd, eventually, type TestDatabase } from '@taskmesh/testing';
import { randomUUID } from 'node:crypto';
import type { Registry } from 'prom-client';
import { createTasks, readTasksConfig, type Tasks } from '../../src/index.ts';
import { createStore, silent } from './store.ts';

const FIELDS = `${GRAPH_FIELDS.join(' ')} owner { id }`;

const CREATE = `mutation ($input: CreateTaskInput!, $key: String) { createTask(input: $input, idempotencyKey: $key) { ${FIELDS} } }`;
const UPDATE = `mutation ($id: ID!, $input: UpdateTaskInput!, $ifVersion: Int) { updateTask(id: $id, input: $input, ifVersion: $ifVersion) { ${FIELDS} } }`;
const REMOVE = 'mutation ($id: ID!, $ifVersion: Int) { deleteTask(id: $id, ifVersion: $ifVersion) }';

export type TestUser = ReturnType<typeof createUser>;

/** A result of any shape that a test inspects. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any -- the shape depends on the query
export type GraphqlResult = any;

export interface TestTasks {
  tasks: Tasks;
  database: TestDatabase;
  query: TestDatabase['query'];
  /** The changes that were published since the start, in order. */
  published: TaskChanged[];
  eventLog: EventLog;
  /** Resolves once all committed changes are published and read. */
  delivered(): Promise<void>;
  user(id?: string): TestUser;
  /** A second instance on the same store. */
  another(options?: Pick<TestTasksOptions, 'eventLog' | 'accounts'>): Promise<TestTasks>;
  stop(): Promise<void>;
}

export interface TestTasksOptions {
  name: string;
  clock?: Clock;
  env?: Record<string, string>;
  /** @default 10 */
  poolSize?: number;
  eventLog?: EventLog;
  metrics?: Registry;
  relay?: Partial<Backoff>;
  /** @default a log without deletions */
  accounts?: AccountsInternal;
  /** @default silent */
  log?: Log;
}

const NONE_DELETED: AccountsInternal = { accountChanges: async () => ({ epoch: 1, head: 0, changes: [] }) };

/** Starts the service with a new database and an event log in memory, until the end of the test or file. */
export const startTasks = async (options: TestTasksOptions): Promise<TestTasks> =>
  startOn(await createStore(options.name), options);

async function startOn(database: TestDatabase, options: TestTasksOptions): Promise<TestTasks> {
  const { clock = { now: () => Date.now() }, env, eventLog = createMemoryEventLog(), metrics } = options;
  const { log = silent, accounts = NONE_DELETED } = options;
  const config = readTasksConfig({ POSTGRES_URL: database.url, ...env });
  const relay = { ...config.relay, ...options.relay };
  const published: TaskChanged[] = [];
  const reader = eventLog.read(TASK_CHANGES_TOPIC, ({ value }) => published.push(parseTaskChanged(value)));
  await reader.ready();
  const tasks = await createTasks(
    { ...config, relay, poolSize: options.poolSize ?? config.poolSize },
    { clock, log, eventLog, accounts, metrics },
  );
  await tasks.start();
  let stopped: Promise<void> | undefined;
  const stop = () => (stopped ??= tasks.stop().then(() => reader.stop()));
  atEnd(stop);
  return {
    tasks,
    database,
    query: database.query,
    published,
    eventLog,
    async delivered() {
      const isPending = () => database.query('select from changes where published_at is null limit 1');
      await eventually(async () => expect(await isPending()).toEqual([]));
      await new Promise(setImmediate); // the in-memory log delivers in the next turn
    },
    user: (id = randomUUID()) => createUser(tasks, id),
    another: (more) => startOn(database, { ...options, eventLog, ...more }),
    stop,
  };
}

function createUser(tasks: Tasks, id: string) {
  const identity: Identity = { role: 'user', userId: id, sessionId: randomUUID() };
  /** Runs an operation as this user and returns the whole result. */
  const send = (query: string, variables?: Record<string, unknown>, traceparent?: string) =>
    tasks.subgraph.execute({ query, variables }, { identity, requestId: 'test', traceparent });
  /** The same, but throws the first error's code if there is one. */
  const request = async (query: string, variables?: Record<string, unknown>): Promise<GraphqlResult> => {
    const { data, errors } = await send(query, variables);
    if (errors) throw new Error(String(errors[0]?.extensions?.code ?? errors[0]?.message), { cause: errors });
    return data;
  };
  return {
    id,
    identity,
    send,
    request,
    create: async (input: object, key?: string): Promise<GraphqlResult> =>
      (await request(CREATE, { input, key })).createTask,
    update: async (task: string, input: object, ifVersion?: number): Promise<GraphqlResult> =>
      (await request(UPDATE, { id: task, input, ifVersion })).updateTask,
    remove: async (task: string, ifVersion?: number): Promise<string> =>
      (await request(REMOVE, { id: task, ifVersion })).deleteTask,
  };
}

/** The issues of a rejected input. */
export const issuesOf = ({ errors }: SubgraphResult): unknown => errors?.[0]?.extensions?.issues;
export const codeOf = ({ errors }: SubgraphResult): unknown => errors?.[0]?.extensions?.code;
