import { userEndpoint, type Endpoint } from '../endpoint.ts';
import { OPERATIONS, type RestTasksQueryVariables, type TaskFragment } from '../operations.ts';
import { etagOf, idempotencyKeyOf } from '../preconditions.ts';
import { checkedQuery, queryText } from '../endpoint.ts';
import { reducedListQuery, reducedTaskCreate, reducedTaskUpdate, type ReducedListQuery } from '../schemas/requests.ts';
import {
  messageOnly,
  reducedList,
  reducedTask,
  type MessageBody,
  type ReducedListBody,
  type ReducedTaskBody,
} from '../schemas/answers.ts';
import { pathTaskId, taskNotFound, taskToChange } from './task-input.ts';

const LIST_LIMIT = 1_000;

/** The reduced variant: bare objects with fewer fields, over the same tasks. */
export const reducedEndpoints: readonly Endpoint[] = [
  userEndpoint({
    method: 'GET',
    path: '/tasks',
    name: 'listReducedTasks',
    summary: "List the caller's tasks in pages",
    description: 'A page has at most 1,000 tasks; `total` counts all that match, and `Link` points to the next page.',
    needs: OPERATIONS.tasksAndTotal,
    query: checkedQuery(reducedListQuery),
    status: 200,
    answerSchema: reducedList,
    isPaged: true,
    handle: async ({ query, claims, run }) => {
      const { tasks } = await run(OPERATIONS.tasksAndTotal, listVariables(query));
      const body: ReducedListBody = {
        data: tasks.edges.map(({ node }) => toReducedTask(node, claims.userId)),
        total: tasks.totalCount,
        page: query.page ?? 1,
      };
      return { body, ...(tasks.pageInfo.hasNextPage && { next: queryText({ ...query, page: body.page + 1 }) }) };
    },
  }),
  userEndpoint({
    method: 'GET',
    path: '/tasks/{id}',
    name: 'getReducedTask',
    summary: 'Get a task',
    needs: OPERATIONS.task,
    headers: ['if-none-match'],
    status: 200,
    answerSchema: reducedTask,
    errors: ['NOT_FOUND'],
    handle: async ({ id, claims, run }) => {
      const { task } = await run(OPERATIONS.task, { id: pathTaskId({ id }) });
      if (!task) throw taskNotFound();
      return taskAnswer(task, claims.userId);
    },
  }),
  userEndpoint({
    method: 'POST',
    path: '/tasks',
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
  userEndpoint({
    method: 'PATCH',
    path: '/tasks/{id}',
    name: 'updateReducedTask',
    summary: 'Update a task',
    description: 'Absent fields stay unchanged; `null` clears `description`.',
    needs: OPERATIONS.updateTask,
    bodySchema: reducedTaskUpdate,
    headers: ['if-match'],
    status: 200,
    answerSchema: reducedTask,
    errors: ['NOT_FOUND', 'PRECONDITION_FAILED'],
    handle: async (exchange) => {
      const { body, claims, run } = exchange;
      const { id, ifVersion } = await taskToChange(exchange);
      const { task } = await run(OPERATIONS.updateTask, { id, input: body, ifVersion });
      return taskAnswer(task, claims.userId);
    },
  }),
  userEndpoint({
    method: 'DELETE',
    path: '/tasks/{id}',
    name: 'deleteReducedTask',
    summary: 'Delete a task',
    needs: OPERATIONS.deleteTask,
    headers: ['if-match'],
    status: 200,
    answerSchema: messageOnly,
    exampleMessage: 'Task deleted.',
    errors: ['NOT_FOUND', 'PRECONDITION_FAILED'],
    handle: async (exchange) => {
      const { id, ifVersion } = await taskToChange(exchange);
      await exchange.run(OPERATIONS.deleteTask, { id, ifVersion });
      const body: MessageBody = { message: 'Task deleted.' };
      return { body };
    },
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
