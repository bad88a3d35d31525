import { nthTask, type Call, type Calls } from './call.ts';
import { taskInput, TASKS_EACH } from './population.ts';

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

interface TaskAnswer {
  id: string;
  title: string;
}

/** The same operations as documents with variables, selecting what the REST answers hold. */
export const graphqlCalls: Calls = {
  login: ({ email, password }) =>
    post<{ login: { user: { email: string } } }>({
      query: DOCUMENTS.login,
      variables: { input: { email, password } },
      isRight: (data) => data.login.user.email === email,
    }),
  create: ({ token }, n) =>
    post<{ createTask: TaskAnswer }>({
      query: DOCUMENTS.create,
      variables: { input: taskInput(n) },
      token,
      isRight: (data) => data.createTask.title === taskInput(n).title,
    }),
  get: (account, n) =>
    post<{ task: TaskAnswer }>({
      query: DOCUMENTS.get,
      variables: { id: nthTask(account, n) },
      token: account.token,
      isRight: (data) => data.task.id === nthTask(account, n),
    }),
  list: ({ token }) =>
    post<{ tasks: { edges: unknown[] } }>({
      query: DOCUMENTS.list,
      token,
      isRight: (data) => data.tasks.edges.length === TASKS_EACH,
    }),
  update: (account, n) => {
    const input = { title: `Prepare the report of week ${n}, again`, completed: n % 2 === 0 };
    return post<{ updateTask: TaskAnswer }>({
      query: DOCUMENTS.update,
      variables: { id: nthTask(account, n), input },
      token: account.token,
      isRight: (data) => data.updateTask.title === input.title,
    });
  },
  statistics: ({ token }) =>
    post<{ taskStatistics: { total: number } }>({
      query: DOCUMENTS.statistics,
      token,
      isRight: (data) => data.taskStatistics.total === TASKS_EACH,
    }),
};

function post<Data>(options: {
  query: string;
  variables?: object;
  token?: string;
  isRight: (data: Data) => boolean;
}): Call {
  const { query, variables, token, isRight } = options;
  return {
    method: 'POST',
    path: '/graphql',
    ...(token && { token }),
    body: { query, ...(variables && { variables }) },
    status: 200,
    isRight: (answer) => isRight((answer as { data: Data }).data),
  };
}
