import { nthTask, type Call, type Calls } from './call.ts';
import { taskInput, TASKS_EACH, updateOf } from './population.ts';

const TASK = 'id title description completed dueDate category priority createdAt updatedAt';

const DOCUMENTS = {
  login:
    'mutation Login($input: LoginInput!) { login(input: $input) { accessToken user { id email emailConfirmedAt } } }',
  create: `mutation Create($input: CreateTaskInput!) { createTask(input: $input) { ${TASK} } }`,
  get: `query Get($id: ID!) { task(id: $id) { ${TASK} } }`,
  list: `query List { tasks(first: ${TASKS_EACH}) { edges { node { ${TASK} } } } }`,
  update: `mutation Update($id: ID!, $input: UpdateTaskInput!) { updateTask(id: $id, input: $input) { ${TASK} } }`,
  statistics: 'query Statistics { taskStatistics { total completed pending completionPercentage } }',
};

/** As far as it is looked at. */
interface Data {
  login: { user: { email: string } };
  createTask: { title: string };
  task: { id: string };
  tasks: { edges: unknown[] };
  updateTask: { title: string };
  taskStatistics: { total: number };
}

/** The same operations as documents with variables, selecting what the REST answers hold. */
export const graphqlCalls: Calls = {
  login: ({ email, password }) =>
    post('login', { variables: { input: { email, password } } }, ({ login }) => login.user.email === email),
  create: ({ token }, n) =>
    post(
      'create',
      { token, variables: { input: taskInput(n) } },
      (data) => data.createTask.title === taskInput(n).title,
    ),
  get: (account, n) =>
    post(
      'get',
      { token: account.token, variables: { id: nthTask(account, n) } },
      ({ task }) => task.id === nthTask(account, n),
    ),
  list: ({ token }) => post('list', { token }, ({ tasks }) => tasks.edges.length === TASKS_EACH),
  update: (account, n) => {
    const variables = { id: nthTask(account, n), input: updateOf(n) };
    return post('update', { token: account.token, variables }, (data) => data.updateTask.title === updateOf(n).title);
  },
  statistics: ({ token }) => post('statistics', { token }, (data) => data.taskStatistics.total === TASKS_EACH),
};

function post(
  operation: keyof typeof DOCUMENTS,
  { variables, token }: { variables?: object; token?: string },
  isRight: (data: Data) => boolean,
): Call {
  return {
    ...{ method: 'POST', path: '/graphql', status: 200, ...(token && { token }) },
    body: { query: DOCUMENTS[operation], ...(variables && { variables }) },
    isRight: (answer) => isRight((answer as { data: Data }).data),
  };
}
