import { hash, verify } from '@node-rs/argon2';
import { fastify, type FastifyInstance, type FastifyRequest } from 'fastify';
import { generateKeyPair, jwtVerify, SignJWT } from 'jose';
import { randomUUID } from 'node:crypto';
import { Pool, types, type QueryResultRow } from 'pg';
import { SCHEMA, STATEMENTS } from './statements.ts';

/** The same parameters as in Taskmesh: argon2id (2), 19 MiB, two passes, one lane. */
const HASHING = { algorithm: 2, memoryCost: 19_456, timeCost: 2, parallelism: 1 } as const;
const SESSION_MS = 3_600_000;
const MAX_TOKENS = 10_000;
/** The same number of connections as in a Taskmesh service. */
const POOL_SIZE = 10;
const PARTITIONS = 8;
const TIMESTAMPTZ = 1184;

interface Credentials {
  email: string;
  password: string;
}
type AccountRow = Record<'id' | 'email' | 'email_confirmed_at' | 'password_hash' | 'password_version', string>;
type TaskInput = Partial<Record<string, unknown>>;
type Run = <Row extends QueryResultRow>(name: keyof typeof STATEMENTS, values: unknown[]) => Promise<Row[]>;

/**
 * The minimal server for these requests: Fastify, pg, and one prepared statement each. No validation, no graph, and no feed
 * that reads the log. `postgresUrl` names an empty database.
 */
export async function createBareServer(postgresUrl: string): Promise<FastifyInstance> {
  const pool = new Pool({
    connectionString: postgresUrl,
    max: POOL_SIZE,
    options: '-c timezone=UTC',
    types: { getTypeParser: (oid, format) => (oid === TIMESTAMPTZ ? toRfc3339 : types.getTypeParser(oid, format)) },
  });
  await pool.query(SCHEMA);
  const run: Run = async (name, values) => (await pool.query({ name, text: STATEMENTS[name], values })).rows;
  const app = fastify({ logger: false });
  app.addHook('onClose', () => pool.end());
  const tokens = await createTokens();
  addAccountRoutes(app, run, tokens.sign);
  addTaskRoutes(app, run, async ({ headers: { authorization = '' } }) => {
    const userId = authorization.startsWith('Bearer ') ? await tokens.userOf(authorization.slice(7)) : undefined;
    if (userId === undefined) throw Object.assign(new Error('Sign in first.'), { statusCode: 401 });
    return userId;
  });
  return app;
}

function addAccountRoutes(app: FastifyInstance, run: Run, sign: (id: string, email: string) => Promise<string>): void {
  const session = async ({ id, email, email_confirmed_at }: AccountRow) => ({
    access_token: await sign(id, email),
    user: { id, email, email_confirmed_at },
  });
  app.post<{ Body: Credentials & { name: string } }>('/api/auth/signup', async ({ body }, reply) => {
    const { email, password, name } = body;
    const values = [newId(), email, name, await hash(password, HASHING), new Date().toISOString()];
    const [account] = await run<AccountRow>('signUp', values);
    return reply.code(201).send(account && (await session(account)));
  });
  app.post<{ Body: Credentials }>('/api/auth/login', async ({ body, ip, id }, reply) => {
    const [account] = await run<AccountRow>('findAccount', [body.email]);
    if (!account || !(await verify(account.password_hash, body.password)))
      return reply.code(401).send({ message: 'E-mail or password is wrong.' });
    const now = Date.now();
    const times = [new Date(now).toISOString(), new Date(now + SESSION_MS).toISOString()];
    const values = [newId(), account.id, ...times, ip, String(id), account.password_version];
    const [, opened] = await Promise.all([run('openSession', values), session(account)]);
    return opened;
  });
}

function addTaskRoutes(app: FastifyInstance, run: Run, userOf: (request: FastifyRequest) => Promise<string>): void {
  const successBody = (data: unknown, message: string) => {
    if (!data) throw Object.assign(new Error('There is no such task.'), { statusCode: 404 });
    return { success: true, message, data };
  };
  app.post<{ Body: TaskInput }>('/api/tasks', async (request, reply) => {
    const ownerId = await userOf(request);
    const { title, description, completed = false, dueDate, category, priority = 'medium' } = request.body;
    const values = [title, description, completed, dueDate, category, priority]; // what is undefined becomes null
    const now = new Date().toISOString();
    const [task] = await run('create', [partOf(ownerId), newId(), ownerId, now, ...values]);
    return reply.code(201).send(successBody(task, 'Task created.'));
  });
  app.get('/api/tasks', async (request) => {
    const list = await run('list', [await userOf(request)]);
    return { success: true, message: 'Tasks found.', count: list.length, data: list };
  });
  app.get('/api/tasks/stats', async (request) => {
    const counts = await run<Record<'total' | 'completed', number>>('statistics', [await userOf(request)]);
    const { total, completed } = counts[0] ?? { total: 0, completed: 0 };
    const completionPercentage = total === 0 ? 0 : Math.round((completed / total) * 10_000) / 100;
    return successBody({ total, completed, pending: total - completed, completionPercentage }, 'Counted.');
  });
  app.get<{ Params: { id: string } }>('/api/tasks/:id', async (request) => {
    const [task] = await run('get', [request.params.id, await userOf(request)]);
    return successBody(task, 'Task found.');
  });
  app.patch<{ Params: { id: string }; Body: Partial<TaskInput> }>('/api/tasks/:id', async (request) => {
    const ownerId = await userOf(request);
    const { title, completed } = request.body;
    const values = [partOf(ownerId), request.params.id, ownerId, new Date().toISOString(), title, completed];
    return successBody((await run('update', values))[0], 'Task updated.');
  });
}

async function createTokens() {
  const { privateKey, publicKey } = await generateKeyPair('ES256');
  const verified = new Map<string, { userId: string; exp: number }>();
  return {
    sign: (userId: string, email: string) =>
      new SignJWT({ userId, email })
        .setProtectedHeader({ alg: 'ES256', typ: 'at+jwt' })
        .setIssuedAt()
        .setExpirationTime(new Date(Date.now() + SESSION_MS))
        .sign(privateKey),
    /** Returns the user of a valid token. Verifies each token's signature once. */
    async userOf(token: string): Promise<string | undefined> {
      const known = verified.get(token);
      if (known) return known.exp * 1000 > Date.now() ? known.userId : undefined;
      const result = await jwtVerify<{ userId: string; exp: number }>(token, publicKey).catch(() => undefined);
      if (!result) return undefined;
      const { userId, exp } = result.payload;
      if (verified.size >= MAX_TOKENS) verified.clear();
      verified.set(token, { userId, exp });
      return userId;
    },
  };
}

/** Returns a UUIDv7, so that new rows are neighbours in the index, as in the services. */
export function newId(): string {
  const time = Date.now().toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-7${randomUUID().slice(15)}`;
}

/** Returns the part of the change log that contains an owner's changes. */
export function partOf(ownerId: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < ownerId.length; index++) hash = Math.imul(hash ^ ownerId.charCodeAt(index), 0x01000193);
  return (hash >>> 0) % PARTITIONS;
}

/** Converts `2026-01-31 10:20:30[.123]+00` to milliseconds and `Z`; cheaper than with Date. */
function toRfc3339(stored: string): string {
  return `${stored.slice(0, 10)}T${stored.slice(11, 19)}.${stored.slice(20, -3).padEnd(3, '0')}Z`;
}
