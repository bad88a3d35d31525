import { action, checkedQuery, type Endpoint, endpoint, queryText } from '../endpoint.ts';
import { OPERATIONS, type RestTasksQueryVariables, type TaskFragment } from '../operations.ts';
import { etagOf, idempotencyKeyOf } from '../preconditions.ts';
import { reducedListQuery, reducedTaskCreate, reducedTaskUpdate, type ReducedListQuery } from '../schemas/requests.ts';
import { reducedList, reducedTask, type ReducedTaskBody } from '../schemas/answers.ts';
import { findTask, taskToChange } from './task-input.ts';

const LIST_LIMIT = 1_000;

/** The reduced variant: bare objects with fewer fields, over the same tasks. */
export const reducedEndpoints: readonly Endpoint[] = [
  endpoint('user', 'GET /tasks', {
    name: 'listReducedTasks',
    summary: "List the caller's tasks in pages",
    description: 'A page has at most 1,000 tasks; `total` counts all that match, and `Link` points to the next page.',
    needs: OPERATIONS.tasksAndTotal,
    query: checkedQuery(reducedListQuery),
    answerSchema: reducedList,
    isPaged: true,
    handle: async ({ query, claims, run }) => {
      const { tasks } = await run(OPERATIONS.tasksAndTotal, listVariables(query));
      const data = tasks.edges.map(({ node }) => toReducedTask(node, claims.userId));
      const { page = 1 } = query;
      return {
        body: { data, total: tasks.totalCount, page },
        ...(tasks.pageInfo.hasNextPage && { next: queryText({ ...query, page: page + 1 }) }),
      };
    },
  }),
  endpoint('user', 'GET /tasks/{id}', {
    name: 'getReducedTask',
    summary: 'Get a task',
    needs: OPERATIONS.task,
    headers: ['if-none-match'],
    answerSchema: reducedTask,
    errors: ['NOT_FOUND'],
    handle: async (exchange) => taskAnswer(await findTask(exchange), exchange.claims.userId),
  }),
  endpoint('user', 'POST /tasks', {
    name: 'createReducedTask',
    summary: 'Create a task',
    needs: OPERATIONS.createTask,
    bodySchema: reducedTaskCreate,
    headers: ['idempotency-key'],
    status: 201,
    answerSchema: reducedTask,
    errors: ['CONFLICT', 'KEY_REUSED'],
    handle: async ({ body, raw, claims, run }) => {
      const idempotencyKey = idempotencyKeyOf(raw);
      const { task } = await run(OPERATIONS.createTask, { input: body, idempotencyKey });
      return taskAnswer(task, claims.userId);
    },
  }),
  endpoint('user', 'PATCH /tasks/{id}', {
    name: 'updateReducedTask',
    summary: 'Update a task',
    description: 'Absent fields stay unchanged; `null` clears `description`.',
    needs: OPERATIONS.updateTask,
    bodySchema: reducedTaskUpdate,
    headers: ['if-match'],
    answerSchema: reducedTask,
    errors: ['NOT_FOUND', 'PRECONDITION_FAILED'],
    handle: async (exchange) => {
      const { body: input, claims, run } = exchange;
      const { task } = await run(OPERATIONS.updateTask, { ...(await taskToChange(exchange)), input });
      return taskAnswer(task, claims.userId);
    },
  }),
  action('user', 'DELETE /tasks/{id}', {
    name: 'deleteReducedTask',
    summary: 'Delete a task',
    needs: OPERATIONS.deleteTask,
    headers: ['if-match'],
    says: 'Task deleted.',
    errors: ['NOT_FOUND', 'PRECONDITION_FAILED'],
    handle: async (exchange) => exchange.run(OPERATIONS.deleteTask, await taskToChange(exchange)),
  }),
];

type ReducedNode = Pick<TaskFragment, 'id' | 'title' | 'description' | 'completed' | 'createdAt' | 'updatedAt'>;

/** `userId` is the owner: the graph shows callers only their own tasks. */
function toReducedTask(node: ReducedNode, userId: string): ReducedTaskBody {
  return {
    id: node.id,
    user_id: userId,
    title: node.title,
    description: node.description,
    completed: node.completed,
    created_at: node.createdAt,
    updated_at: node.updatedAt,
  };
}

function taskAnswer(node: TaskFragment, userId: string) {
  return { body: toReducedTask(node, userId), etag: etagOf(node.version) };
}

const ORDER_FIELDS = { created_at: 'CREATED_AT', updated_at: 'UPDATED_AT' } as const;

function listVariables({
  status = 'all',
  sort,
  order,
  page = 1,
  limit = LIST_LIMIT,
}: ReducedListQuery): RestTasksQueryVariables {
  return {
    filter: status === 'all' ? {} : { completed: status === 'completed' },
    orderBy: { field: ORDER_FIELDS[sort ?? 'created_at'], direction: order === 'asc' ? 'ASC' : 'DESC' },
    first: limit,
    offset: (page - 1) * limit,
  };
}
