import { nthTask, type Call, type Calls } from './call.ts';
import { taskInput, TASKS_EACH, updateOf } from './population.ts';

/** The operations by the interface document's paths. */
export const restCalls: Calls = {
  login: ({ email, password }) =>
    rest<{ user: { email: string } }>('POST /api/auth/login', {
      body: { email, password },
      isRight: ({ user }) => user.email === email,
    }),
  create: ({ token }, n) =>
    rest<{ data: object }>('POST /api/tasks', {
      ...{ token, body: taskInput(n), status: 201 },
      isRight: ({ data }) => isTask(data, { title: taskInput(n).title }),
    }),
  get: (account, n) =>
    rest<{ data: object }>(`GET /api/tasks/${nthTask(account, n)}`, {
      token: account.token,
      isRight: ({ data }) => isTask(data, { id: nthTask(account, n) }),
    }),
  list: ({ token }) =>
    rest<{ count: number; data: object[] }>('GET /api/tasks', {
      token,
      isRight: ({ count, data }) =>
        count === TASKS_EACH && data.length === TASKS_EACH && data.every((task) => isTask(task, {})),
    }),
  update: (account, n) =>
    rest<{ data: object }>(`PATCH /api/tasks/${nthTask(account, n)}`, {
      ...{ token: account.token, body: updateOf(n) },
      isRight: ({ data }) => isTask(data, { id: nthTask(account, n), ...updateOf(n) }),
    }),
  statistics: ({ token }) =>
    rest<{ data: { total: number } }>('GET /api/tasks/stats', {
      token,
      isRight: ({ data }) => data.total === TASKS_EACH,
    }),
};

function rest<Answer>(
  request: `${Call['method']} ${string}`,
  options: Pick<Call, 'token' | 'body'> & { status?: number; isRight: (answer: Answer) => boolean },
): Call {
  const [method, path = ''] = request.split(' ') as [Call['method'], string]; // as its type says
  return { method, path, status: 200, ...options, isRight: (answer) => options.isRight(answer as Answer) };
}

const FIELDS = 'category,completed,created_at,description,due_date,id,priority,title,updated_at,user_id';

/** All fields of a task and no other, some with known values: a target that answers less would look cheaper. */
function isTask(task: object, expected: object): boolean {
  const known = Object.entries({ due_date: taskInput(0).dueDate, ...expected });
  const values = new Map<string, unknown>(Object.entries(task));
  return Object.keys(task).sort().join() === FIELDS && known.every(([name, value]) => values.get(name) === value);
}
