import { fastify, type FastifyInstance, type FastifyRequest } from 'fastify';
import { Pool, types } from 'pg';
import { createAccounts, type Credentials } from './accounts.ts';
import { SCHEMA } from './schema.ts';
import { createTaskStore, type TaskInput } from './tasks.ts';
import { createTokens } from './tokens.ts';

const TIMESTAMPTZ = 1184;
/** As many as a Taskmesh service has. */
const POOL_SIZE = 10;

/**
 * What remains of the service when all is left out that is not needed for these requests: Fastify, pg, one prepared
 * statement each. No validation, no graph, no feed behind the log. `postgresUrl` names an empty database.
 */
export async function createBareServer(postgresUrl: string): Promise<FastifyInstance> {
  const pool = new Pool({
    connectionString: postgresUrl,
    max: POOL_SIZE,
    options: '-c timezone=UTC',
    types: { getTypeParser: (oid, format) => (oid === TIMESTAMPTZ ? toRfc3339 : types.getTypeParser(oid, format)) },
  });
  await pool.query(SCHEMA);
  const tokens = await createTokens();
  const app = fastify({ logger: false });
  app.addHook('onClose', () => pool.end());
  addAccountRoutes(app, createAccounts(pool, tokens));
  addTaskRoutes(app, createTaskStore(pool), async (request) => {
    const { authorization = '' } = request.headers;
    const userId = authorization.startsWith('Bearer ') ? await tokens.userOf(authorization.slice(7)) : undefined;
    if (userId === undefined) throw Object.assign(new Error('Sign in first.'), { statusCode: 401 });
    return userId;
  });
  return app;
}

function addAccountRoutes(app: FastifyInstance, accounts: ReturnType<typeof createAccounts>): void {
  app.post<{ Body: Credentials & { name: string } }>('/api/auth/signup', async (request, reply) =>
    reply.code(201).send(await accounts.signUp(request.body)),
  );
  app.post<{ Body: Credentials }>('/api/auth/login', async (request, reply) => {
    const session = await accounts.login(request.body, { ip: request.ip, requestId: String(request.id) });
    return session ?? reply.code(401).send({ message: 'E-mail or password is wrong.' });
  });
}

function addTaskRoutes(
  app: FastifyInstance,
  tasks: ReturnType<typeof createTaskStore>,
  userOf: (request: FastifyRequest) => Promise<string>,
): void {
  const found = (task: unknown, message: string) => {
    if (!task) throw Object.assign(new Error('There is no such task.'), { statusCode: 404 });
    return { success: true, message, data: task };
  };
  app.post<{ Body: TaskInput }>('/api/tasks', async (request, reply) => {
    const task = await tasks.create(await userOf(request), request.body);
    return reply.code(201).send(found(task, 'Task created.'));
  });
  app.get('/api/tasks', async (request) => {
    const list = await tasks.list(await userOf(request));
    return { success: true, message: 'Tasks found.', count: list.length, data: list };
  });
  app.get('/api/tasks/stats', async (request) => found(await tasks.statistics(await userOf(request)), 'Counted.'));
  app.get<{ Params: { id: string } }>('/api/tasks/:id', async (request) =>
    found(await tasks.get(await userOf(request), request.params.id), 'Task found.'),
  );
  app.patch<{ Params: { id: string }; Body: Partial<TaskInput> }>('/api/tasks/:id', async (request) =>
    found(await tasks.update(await userOf(request), request.params.id, request.body), 'Task updated.'),
  );
}

/** `2026-01-31 10:20:30[.123]+00` with milliseconds and `Z`; cheaper than by way of Date. */
function toRfc3339(stored: string): string {
  return `${stored.slice(0, 10)}T${stored.slice(11, 19)}.${stored.slice(20, -3).padEnd(3, '0')}Z`;
}
