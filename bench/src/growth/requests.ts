import type { Dispatcher } from 'undici';
import { send, type Call } from '../load/call.ts';
import type { Owner } from './owners.ts';

type Request = Omit<Call, 'isRight'>;

/** Sends requests of one owner, one after the other. */
export const sender = (client: Dispatcher, token: string) => (request: Request) => send(client, { ...request, token });

/** A kind of request: the n-th of an owner. */
export interface Operation {
  name: string;
  /** Whether it is known to cost more of a larger owner. */
  grows?: boolean;
  request(owner: Owner, n: number, cursor: string): Request;
}

const rest = (path: string): Request => ({ method: 'GET', path: `/api/tasks${path}`, status: 200 });

export const STATISTICS = rest('/stats');

const NODE = 'node { id title description completed dueDate category priority createdAt updatedAt version }';
const EVERYTHING = `edges { ${NODE} } totalCount changesCursor pageInfo { hasNextPage hasPreviousPage endCursor }`;
const listOf = (args: string, selection: string): Request => {
  const query = `query { tasks(${args}) { ${selection} } }`;
  return { method: 'POST', path: '/graphql', body: { query }, status: 200 };
};

const PRIORITIES = ['low', 'medium', 'high'];

/** All kinds, as clients send them. `cursor` is of the middle of the owner's tasks, by due date. */
export const OPERATIONS: Operation[] = [
  { name: 'statistics', grows: true, request: () => STATISTICS },
  { name: 'a task by its id', request: ({ taskId }) => rest(`/${taskId}`) },
  { name: '50, newest first', request: () => rest('?limit=50') },
  { name: '50 by due date', grows: true, request: () => rest('?limit=50&sortBy=due_date&order=asc') },
  { name: '50 by due date, the last first', grows: true, request: () => rest('?limit=50&sortBy=due_date&order=desc') },
  { name: '50 by priority', grows: true, request: () => rest('?limit=50&sortBy=priority&order=desc') },
  {
    name: '50 by last change',
    grows: true,
    request: () => listOf('first: 50, orderBy: { field: UPDATED_AT }', `edges { ${NODE} }`),
  },
  { name: '10 completed ones, oldest first', request: () => rest('?limit=10&completed=true&order=asc') },
  { name: '10 of a rare category', grows: true, request: () => rest('?limit=10&category=rare') },
  {
    name: '10 of a category, completed, by due date',
    grows: true,
    request: () => rest('?limit=10&category=work&completed=true&sortBy=due_date'),
  },
  {
    name: '10 of a category, by last change',
    grows: true,
    request: () =>
      listOf('first: 10, filter: { category: "work" }, orderBy: { field: UPDATED_AT }', `edges { ${NODE} }`),
  },
  {
    name: 'the page behind the middle, total, feed position',
    grows: true,
    request: (_owner, _n, cursor) =>
      listOf(
        `first: 20, after: "${cursor}", orderBy: { field: DUE_DATE, direction: ASC }, filter: { priority: HIGH }`,
        EVERYTHING,
      ),
  },
  {
    name: 'a total by state',
    grows: true,
    request: () => listOf('filter: { completed: true, priority: HIGH }', 'totalCount'),
  },
  {
    name: 'a total of a category',
    grows: true,
    request: () => listOf('filter: { category: "work" }', 'totalCount'),
  },
  {
    name: 'create',
    request: (_owner, n) => ({
      method: 'POST',
      path: '/api/tasks',
      body: {
        title: `Prepare the report ${n}`,
        category: 'work',
        dueDate: '2031-05-17T09:30:00.000Z',
        priority: PRIORITIES[n % 3],
      },
      status: 201,
    }),
  },
  { name: 'update: a title', request: ({ taskId }, n) => changed(taskId, { title: `Prepare the report ${n}` }) },
  { name: 'update: completed', request: ({ taskId }, n) => changed(taskId, { completed: n % 2 === 0 }) },
];

function changed(taskId: string, body: object): Request {
  return { method: 'PATCH', path: `/api/tasks/${taskId}`, body, status: 200 };
}

/** Where the page begins that is asked for behind the middle. */
export const middleOf = ({ tasks }: Owner): Request =>
  listOf(
    `first: 1, offset: ${Math.floor(tasks / 6)}, orderBy: { field: DUE_DATE, direction: ASC }, filter: { priority: HIGH }`,
    'pageInfo { endCursor }',
  );
