import { createLog, stopAll, systemClock, type Clock } from '@taskmesh/service';
import type { SubgraphContext } from '@taskmesh/internal-api';
import { Registry } from 'prom-client';
import { connectInProcess } from '../../src/connections/in-process.ts';
import type { Connections } from '../../src/connections/connections.ts';
import { createTurns } from '../../src/http/turns.ts';
import { createCallerBulkheads, createExecutor, createGraphMetrics } from '../../src/supergraph/executor.ts';
import { createServiceMap } from '../../src/supergraph/data-source.ts';
import type { ExecutorKind } from '../../src/config.ts';
import type { GraphExecutor } from '../../src/supergraph/operation.ts';
import { openSupergraph } from '../../src/supergraph/supergraph.ts';
import type { TaskFragment } from '../../src/rest/operations.ts';
import { createFakeBackupWork } from './backup-work.ts';
import { createFakeSubgraph } from './fake-subgraph.ts';
import { createFakeOperators } from './operators.ts';
import { connectServers } from './servers.ts';

/** Our graph with one kind of connection; its services record their calls and behave as they are set. */
export interface World {
  connections: Connections;
  executor: GraphExecutor;
  /** Every call of a resolver or internal function, with its arguments and its caller. */
  seen: unknown[][];
  /** Whether the most recent call's caller has left. */
  isCancelled(): boolean;
  /**
   * What a resolver or an internal function does; for a resolver, undefined stands for its default answer. It has to
   * answer something until the next `reset`: a name that nothing has would test nothing.
   */
  behave: ((name: string) => unknown) | undefined;
  /** Calls of requests for which `isOld` is true are no longer recorded. */
  reset(isOld?: (requestId: string) => boolean): void;
  stop(): Promise<void>;
}

const AT = '2026-11-20T10:00:00.000Z';
const task = (id: string): TaskFragment => ({
  id,
  title: `Task ${id}`,
  description: null,
  completed: false,
  dueDate: null,
  category: 'home',
  priority: 'LOW',
  createdAt: AT,
  updatedAt: AT,
  version: 1,
});
const page = () => ({
  edges: ['1', '2'].map((id) => ({ cursor: id, node: task(id) })),
  pageInfo: { hasNextPage: false, hasPreviousPage: false },
  totalCount: 2,
  changesCursor: 'cursor',
});
const user = (id: string) => ({ __typename: 'User', id, email: `${id}@example.com`, name: id, emailConfirmedAt: AT });
const statistics = () => ({ total: 2, completed: 0, pending: 2, completionPercentage: 0.5 });
const session = () => ({ accessToken: 'access', refreshToken: 'refresh', expiresIn: 60, user: user('ada') });

export async function createWorld(mode: 'in-process' | 'http', clock: Clock, executor: ExecutorKind): Promise<World> {
  const log = createLog({ service: 'test', level: 'silent' });
  const seen: unknown[][] = [];
  let behave: World['behave'];
  let isUsed = false;
  let isCancelled = () => false;
  let isOld = (_requestId: string) => false;

  const behaved = async (name: string): Promise<unknown> => {
    try {
      const answer = behave?.(name);
      isUsed ||= answer !== undefined;
      return await answer;
    } catch (error) {
      isUsed = true;
      throw error;
    }
  };
  const checkUse = () => {
    if (behave && !isUsed) throw new Error('What the services were set to do was never asked of them.');
  };

  /** A resolver that records its calls. */
  const on =
    (name: string, plain: (args: Record<string, unknown>) => unknown) =>
    async (_source: unknown, args: Record<string, unknown>, context: SubgraphContext) => {
      if (!isOld(context.requestId)) seen.push([name, args, context.identity, context.traceparent]);
      isCancelled = () => context.isCancelled?.() ?? false;
      if (name === 'login') context.extensions.session = { userId: 'ada', sessionId: 'new', note: undefined };
      const answer = await behaved(name);
      return answer === undefined ? plain(args) : answer;
    };
  /** An internal function that records its calls. */
  const internal =
    (name: string) =>
    async (...args: unknown[]) => {
      seen.push([name, args]);
      if (!behave) throw new Error(`It is not set what ${name} answers.`);
      isUsed = true;
      return (await behaved(name)) as never;
    };

  const tasks = createFakeSubgraph(
    'tasks',
    {
      Query: {
        task: on('task', ({ id }) => task(String(id))),
        tasks: on('tasks', page),
        taskStatistics: on('taskStatistics', statistics),
      },
      Mutation: {
        createTask: on('createTask', () => task('3')),
        updateTask: on('updateTask', ({ id }) => task(String(id))),
        deleteTask: on('deleteTask', ({ id }) => id),
      },
      Task: { owner: on('owner', () => ({ __typename: 'User', id: 'ada' })) },
      User: {
        __resolveReference: (reference: object) => reference,
        tasks: on('User.tasks', page),
        taskStatistics: on('User.taskStatistics', statistics),
      },
    },
    log,
  );
  const auth = createFakeSubgraph(
    'auth',
    {
      Query: { me: on('me', () => user('ada')) },
      Mutation: {
        login: on('login', session),
        logout: on('logout', () => true),
        requestPasswordReset: on('requestPasswordReset', () => true),
      },
      User: {
        __resolveReference: (reference: { id: string }, context: SubgraphContext) =>
          on('user', () => user(reference.id))({}, {}, context),
      },
    },
    log,
  );
  const backup = createFakeSubgraph('backup', { Query: { backups: on('backups', () => []) } }, log);

  const operators = createFakeOperators();
  const services = {
    auth: {
      subgraph: auth,
      operators: operators.auth,
      internal: {
        endedSessions: internal('endedSessions'),
        noteSessionUses: internal('noteSessionUses'),
        findPersonalToken: internal('findPersonalToken'),
        accessTokenKeys: internal('accessTokenKeys'),
      },
      signIn: { begin: internal('begin'), complete: internal('complete') },
    },
    tasks: {
      subgraph: tasks,
      operators: operators.tasks,
      deadLetters: operators.deadLetters,
      internal: {
        heads: internal('heads'),
        changesAfter: internal('changesAfter'),
        openCursor: internal('openCursor'),
        reportUnreadable: internal('reportUnreadable'),
      },
    },
    backup: { subgraph: backup, work: createFakeBackupWork().work, operators: operators.backup },
  };
  const { connections, servers } =
    mode === 'http'
      ? await connectServers(services, log, systemClock)
      : { connections: connectInProcess(services), servers: undefined };
  const { initial: supergraph } = await openSupergraph(undefined);
  const metrics = createGraphMetrics(new Registry());
  const graphServices = createServiceMap(supergraph, { connections, metrics, clock, log });

  return {
    connections,
    executor: createExecutor({
      turns: createTurns(),
      supergraph,
      services: graphServices,
      metrics,
      clock,
      log,
      kind: executor,
      runForCaller: createCallerBulkheads(),
    }),
    seen,
    isCancelled: () => isCancelled(),
    get behave() {
      return behave;
    },
    set behave(next) {
      behave = next;
      isUsed = false;
    },
    reset(isBefore = () => false) {
      checkUse();
      isOld = isBefore;
      seen.length = 0;
      behave = undefined;
    },
    async stop() {
      await connections.close();
      await stopAll(Object.values(servers ?? {}));
      checkUse();
    },
  };
}
