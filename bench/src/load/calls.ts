import type { Dispatcher } from 'undici';

export const OPERATIONS = ['login', 'create', 'get', 'list', 'update', 'statistics'] as const;
export type Operation = (typeof OPERATIONS)[number];

export const PROTOCOLS = ['rest', 'graphql'] as const;
export type Protocol = (typeof PROTOCOLS)[number];

/** A user who sends requests, with tasks that exist from the start. */
export interface Account {
  email: string;
  password: string;
  token: string;
  taskIds: string[];
}

/** One request, and the expected response. */
export interface Call {
  /** `GET /api/tasks` */
  request: string;
  token?: string;
  body?: object;
  /** @default 200 */
  status?: number;
  /** The minimum content of the first response on each connection; functions check values. */
  expected?: unknown;
}

/** Sends a request and returns the response's body. @throws for a failure */
export async function send(client: Dispatcher, { request, token, body, status = 200 }: Call): Promise<string> {
  const [method, path = ''] = request.split(' ') as ['GET', string]; // or another
  const headers = {
    ...(body && { 'content-type': 'application/json' }),
    ...(token && { authorization: `Bearer ${token}` }),
  };
  const response = await client.request({ method, path, headers, ...(body && { body: JSON.stringify(body) }) });
  const text = await response.body.text();
  // GraphQL reports failures with status 200.
  if (response.statusCode !== status || (path === '/graphql' && text.includes('"errors":')))
    throw new Error(`${request} responded with ${response.statusCode} ${text.slice(0, 500)}`);
  return text;
}

/** Whether a value contains everything that is expected. */
export function matches(value: unknown, expected: unknown): boolean {
  if (typeof expected === 'function') return expected(value) === true;
  if (typeof expected !== 'object' || expected === null) return value === expected;
  if (Array.isArray(expected) && !(Array.isArray(value) && value.length === expected.length)) return false;
  return Object.entries(expected).every(([key, each]) => matches(Object(value)[key], each));
}

export const TASKS_EACH = 50;

/** A task of typical size. */
export function taskInput(n: number) {
  return {
    title: `Prepare the report of week ${n}`,
    description: `Collect the figures of all teams, compare them with week ${n - 1}, and send the summary to everybody.`,
    dueDate: '2031-05-17T09:30:00.000Z',
    category: 'work',
    completed: n % 3 === 0,
  };
}

/** The n-th update of a task. */
const updateOf = (n: number) => ({ title: `Prepare the report of week ${n}, again`, completed: n % 2 === 0 });

const idOf = ({ taskIds }: Account, n: number) => taskIds[n % taskIds.length] ?? '';
const taskPath = (account: Account, n: number) => `/api/tasks/${idOf(account, n)}`;
const isSet = (value: unknown) => value !== undefined;

/** Expects every field of a task, because a server that sends fewer would look cheaper. */
const restTask = (expected: object) => ({
  ...{ id: isSet, user_id: isSet, title: isSet, description: isSet, completed: isSet, priority: 'medium' },
  ...{ due_date: taskInput(0).dueDate, category: 'work', created_at: isSet, updated_at: isSet, ...expected },
});

const call = (request: string, token: string, expected: object, body?: object): Call => ({
  ...{ request, token, expected, ...(body && { body }) },
});
const graphql = (query: string, variables: object, token: string, data: object) =>
  call('POST /graphql', token, { data }, { query, variables });

const TASK = 'id title description completed dueDate category priority createdAt updatedAt';
const LOGIN =
  'mutation Login($input: LoginInput!) { login(input: $input) { accessToken user { id email emailConfirmedAt } } }';
const CREATE = `mutation Create($input: CreateTaskInput!) { createTask(input: $input) { ${TASK} } }`;
const GET = `query Get($id: ID!) { task(id: $id) { ${TASK} } }`;
const LIST = `query List { tasks(first: ${TASKS_EACH}) { edges { node { ${TASK} } } } }`;
const UPDATE = `mutation Update($id: ID!, $input: UpdateTaskInput!) { updateTask(id: $id, input: $input) { ${TASK} } }`;
const STATISTICS = 'query Statistics { taskStatistics { total completed pending completionPercentage } }';

/** The n-th call of an account. GraphQL selects the same fields as the REST responses. */
export const CALLS: Record<Protocol, Record<Operation, (account: Account, n: number) => Call>> = {
  rest: {
    login: ({ email, password }) => call('POST /api/auth/login', '', { user: { email } }, { email, password }),
    create: ({ token }, n) => ({
      ...call('POST /api/tasks', token, { data: restTask({ title: taskInput(n).title }) }, taskInput(n)),
      status: 201,
    }),
    get: (account, n) =>
      call(`GET ${taskPath(account, n)}`, account.token, { data: restTask({ id: idOf(account, n) }) }),
    list: ({ token }) =>
      call('GET /api/tasks', token, { count: TASKS_EACH, data: Array(TASKS_EACH).fill(restTask({})) }),
    update: (account, n) =>
      call(`PATCH ${taskPath(account, n)}`, account.token, { data: restTask(updateOf(n)) }, updateOf(n)),
    statistics: ({ token }) => call('GET /api/tasks/stats', token, { data: { total: TASKS_EACH } }),
  },
  graphql: {
    login: ({ email, password }) => graphql(LOGIN, { input: { email, password } }, '', { login: { user: { email } } }),
    create: ({ token }, n) =>
      graphql(CREATE, { input: taskInput(n) }, token, { createTask: { title: taskInput(n).title } }),
    get: (account, n) =>
      graphql(GET, { id: idOf(account, n) }, account.token, { task: { id: idOf(account, n), title: isSet } }),
    list: ({ token }) =>
      graphql(LIST, {}, token, { tasks: { edges: Array(TASKS_EACH).fill({ node: { id: isSet } }) } }),
    update: (account, n) =>
      graphql(UPDATE, { id: idOf(account, n), input: updateOf(n) }, account.token, {
        updateTask: { title: updateOf(n).title },
      }),
    statistics: ({ token }) => graphql(STATISTICS, {}, token, { taskStatistics: { total: TASKS_EACH } }),
  },
};
