import { AppError, badUserInput, notFound, createTaskInput, parseInput, updateTaskInput } from '@taskmesh/contracts';
import { type TasksInternal, requireUser, type Subgraph, type SubgraphContext } from '@taskmesh/internal-api';
import { type Log } from '@taskmesh/service';
import { randomUUID } from 'node:crypto';
import type { TaskFragment } from '../../src/rest/operations.ts';
import { createFakeSubgraph } from '../fakes/fake-subgraph.ts';

interface Row extends TaskFragment {
  ownerId: string;
}

interface ListArguments {
  filter?: { completed?: boolean; category?: string; priority?: string } | null;
  orderBy?: { field: keyof typeof ORDER_KEYS; direction: 'ASC' | 'DESC' } | null;
  first: number;
  offset?: number | null;
  after?: string | null;
}

/** A tasks service in memory, with as much as REST needs. */
export interface FakeTasks {
  subgraph: Subgraph;
  internal: TasksInternal;
  /** All tasks of all users, in the order of creation. */
  rows: Row[];
  /** The arguments of each list call. */
  listCalls: ListArguments[];
  failNext(error: Error): void;
}

const PRIORITIES = ['LOW', 'MEDIUM', 'HIGH'];
const ORDER_KEYS = {
  CREATED_AT: (row: Row) => row.createdAt,
  UPDATED_AT: (row: Row) => row.updatedAt,
  DUE_DATE: (row: Row) => row.dueDate,
  PRIORITY: (row: Row) => PRIORITIES.indexOf(row.priority),
};

/** Enum values are upper case in GraphQL, but lower case in the rules. */
function inRules(input: Record<string, unknown>): Record<string, unknown> {
  return typeof input.priority === 'string' ? { ...input, priority: input.priority.toLowerCase() } : input;
}

export function createFakeTasks(log: Log): FakeTasks {
  const rows: Row[] = [];
  const listCalls: ListArguments[] = [];
  const keys = new Map<string, { text: string; row: Row }>();
  let lastMs = Date.parse('2026-11-20T10:00:00.000Z');
  let failure: Error | undefined;

  const fail = () => {
    const error = failure;
    failure = undefined;
    if (error) throw error;
  };
  const tick = () => new Date(++lastMs).toISOString();

  const ownRow = (id: string, ctx: SubgraphContext): Row | undefined =>
    rows.find((row) => row.id === id.toLowerCase() && row.ownerId === requireUser(ctx.identity).userId);

  const rowToChange = ({ id, ifVersion }: { id: string; ifVersion?: number | null }, ctx: SubgraphContext): Row => {
    const row = ownRow(id, ctx);
    if (!row) throw notFound('Task not found.');
    if (typeof ifVersion === 'number' && ifVersion !== row.version)
      throw new AppError('PRECONDITION_FAILED', 'The task has another version by now.');
    return row;
  };

  const create = (input: Record<string, unknown>, ownerId: string): Row => {
    const { priority, ...fields } = parseInput(createTaskInput, inRules(input));
    const at = tick();
    const row: Row = {
      id: randomUUID(),
      ownerId,
      description: null,
      dueDate: null,
      category: null,
      createdAt: at,
      updatedAt: at,
      version: 1,
      ...withoutUndefined(fields),
      title: fields.title,
      completed: fields.completed,
      priority: priority.toUpperCase() as Row['priority'],
    };
    rows.push(row);
    return row;
  };

  const resolvers = {
    Query: {
      task: (_: unknown, { id }: { id: string }, ctx: SubgraphContext) => {
        fail();
        return ownRow(id, ctx) ?? null;
      },
      tasks: (_: unknown, args: ListArguments, { identity }: SubgraphContext) => {
        fail();
        listCalls.push(args);
        const { userId } = requireUser(identity);
        const all = rows.filter((row) => row.ownerId === userId && matches(row, args.filter ?? {}));
        const ordered = all.toSorted((left, right) => compare(left, right, args.orderBy));
        const offset = args.after ? 1 + ordered.findIndex(({ id }) => id === args.after) : (args.offset ?? 0);
        const page = ordered.slice(offset, offset + args.first);
        const pageInfo = {
          hasNextPage: ordered.length > offset + page.length,
          hasPreviousPage: offset > 0,
          endCursor: page.at(-1)?.id ?? null,
        };
        const edges = page.map((node) => ({ cursor: node.id, node }));
        return { edges, pageInfo, totalCount: all.length, changesCursor: 'c' };
      },
      taskStatistics: (_: unknown, __: unknown, { identity }: SubgraphContext) => {
        fail();
        const { userId } = requireUser(identity);
        const own = rows.filter((row) => row.ownerId === userId);
        const completed = own.filter((row) => row.completed).length;
        const completionPercentage = own.length === 0 ? 0 : Math.round((completed / own.length) * 10_000) / 100;
        return { total: own.length, completed, pending: own.length - completed, completionPercentage };
      },
    },
    Mutation: {
      createTask: (
        _: unknown,
        { input, idempotencyKey }: { input: Record<string, unknown>; idempotencyKey?: string | null },
        { identity }: SubgraphContext,
      ) => {
        fail();
        const { userId } = requireUser(identity);
        if (typeof idempotencyKey !== 'string') return create(input, userId);
        const text = JSON.stringify(input);
        const known = keys.get(`${userId} ${idempotencyKey}`);
        if (known && known.text !== text)
          throw badUserInput([{ path: 'idempotencyKey', message: 'The key belongs to another task.' }]);
        const row = known?.row ?? create(input, userId);
        keys.set(`${userId} ${idempotencyKey}`, { text, row: { ...row } });
        return { ...row };
      },
      updateTask: (
        _: unknown,
        args: { id: string; input: Record<string, unknown>; ifVersion?: number | null },
        ctx: SubgraphContext,
      ) => {
        fail();
        const { priority, ...fields } = parseInput(updateTaskInput, inRules(args.input));
        const row = rowToChange(args, ctx);
        return Object.assign(row, withoutUndefined(fields), priority && { priority: priority.toUpperCase() }, {
          version: row.version + 1,
          updatedAt: tick(),
        });
      },
      deleteTask: (_: unknown, args: { id: string; ifVersion?: number | null }, ctx: SubgraphContext) => {
        fail();
        const row = rowToChange(args, ctx);
        rows.splice(rows.indexOf(row), 1);
        return row.id;
      },
    },
  };

  return {
    subgraph: createFakeSubgraph('tasks', resolvers, log),
    internal: {
      heads: noStreams,
      changesAfter: noStreams,
      openCursor: noStreams,
      reportUnreadable: noStreams,
    },
    rows,
    listCalls,
    failNext: (error) => {
      failure = error;
    },
  };
}

const noStreams = () => Promise.reject(new Error('The fake has no streams.'));

function withoutUndefined<Fields extends object>(fields: Fields): Partial<Fields> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Partial<Fields>;
}

function matches(row: Row, filter: NonNullable<ListArguments['filter']>): boolean {
  return Object.entries(filter).every(([name, value]) => {
    if (!(name in row)) throw new Error(`The fake does not know the filter ${name}.`);
    return value === null || row[name as keyof Row] === value;
  });
}

function compare(left: Row, right: Row, orderBy: ListArguments['orderBy']): number {
  const { field, direction } = orderBy ?? { field: 'CREATED_AT', direction: 'DESC' };
  const sign = direction === 'ASC' ? 1 : -1;
  const [a, b] = [ORDER_KEYS[field](left), ORDER_KEYS[field](right)];
  if (a === b) return left.createdAt < right.createdAt ? -sign : sign;
  if (a === null) return 1;
  if (b === null) return -1;
  return a < b ? -sign : sign;
}
