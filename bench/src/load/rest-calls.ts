import { nthTask, type Calls } from './call.ts';
import { taskInput, TASKS_EACH } from './population.ts';

interface Answer<Data> {
  data: Data;
}

/** The operations by the interface document's paths. */
export const restCalls: Calls = {
  login: ({ email, password }) => ({
    method: 'POST',
    path: '/api/auth/login',
    body: { email, password },
    status: 200,
    isRight: (answer) => (answer as { user: { email: string } }).user.email === email,
  }),
  create: ({ token }, n) => ({
    method: 'POST',
    path: '/api/tasks',
    token,
    body: taskInput(n),
    status: 201,
    isRight: (answer) => isTask((answer as Answer<object>).data, { title: taskInput(n).title }),
  }),
  get: (account, n) => ({
    method: 'GET',
    path: `/api/tasks/${nthTask(account, n)}`,
    token: account.token,
    status: 200,
    isRight: (answer) => isTask((answer as Answer<object>).data, { id: nthTask(account, n) }),
  }),
  list: ({ token }) => ({
    method: 'GET',
    path: '/api/tasks',
    token,
    status: 200,
    isRight: (answer) => {
      const { count, data } = answer as Answer<object[]> & { count: number };
      return count === TASKS_EACH && data.length === TASKS_EACH && data.every((task) => isTask(task, {}));
    },
  }),
  update: (account, n) => {
    const body = { title: `Prepare the report of week ${n}, again`, completed: n % 2 === 0 };
    return {
      method: 'PATCH',
      path: `/api/tasks/${nthTask(account, n)}`,
      token: account.token,
      body,
      status: 200,
      isRight: (answer) => isTask((answer as Answer<object>).data, { id: nthTask(account, n), ...body }),
    };
  },
  statistics: ({ token }) => ({
    method: 'GET',
    path: '/api/tasks/stats',
    token,
    status: 200,
    isRight: (answer) => (answer as Answer<{ total: number }>).data.total === TASKS_EACH,
  }),
};

const FIELDS = 'category,completed,created_at,description,due_date,id,priority,title,updated_at,user_id';

/** All fields of a task and no other, some with known values: a target that answers less would look cheaper. */
function isTask(task: object, expected: object): boolean {
  const known = Object.entries({ due_date: taskInput(0).dueDate, ...expected });
  const values = new Map<string, unknown>(Object.entries(task));
  return Object.keys(task).sort().join() === FIELDS && known.every(([name, value]) => values.get(name) === value);
}
