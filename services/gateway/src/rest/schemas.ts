import {
  createTaskInput,
  forgotPasswordInput,
  loginInput,
  password,
  PRIORITIES,
  signUpInput,
  updateTaskInput,
} from '@taskmesh/validation';
import { z } from 'zod';

const MAX_OFFSET = 2 ** 31 - 1;
const MAX_PAGE = 10_000_000;

// ---------------------------------------------------------------- requests

const choice = <const Values extends readonly [string, ...string[]]>(what: string, values: Values) =>
  z.enum(values, `${what} must be one of ${values.join(', ')}.`);

/** A whole number in decimal digits, as a query has it. */
function wholeNumber(what: string, { min, max, byDefault }: { min: number; max: number; byDefault: number }) {
  const isInRange = (value: string) => /^\d{1,10}$/.test(value) && Number(value) >= min && Number(value) <= max;
  return z
    .string()
    .refine(isInRange, `${what} must be a whole number from ${min} to ${max}.`)
    .transform(Number)
    .optional()
    .meta({ type: 'integer', minimum: min, maximum: max, default: byDefault });
}

/** Any text: a category that no task can have just finds nothing. */
const categoryFilter = z
  .string()
  .refine(
    (value) => value.isWellFormed() && !value.includes('\0'),
    'category must not contain NUL characters or lone surrogates.',
  );

export const listQuery = z.object({
  completed: choice('completed', ['true', 'false']).optional(),
  category: categoryFilter.optional(),
  priority: choice('priority', PRIORITIES).optional(),
  sortBy: choice('sortBy', ['created_at', 'due_date', 'priority']).optional().meta({ default: 'created_at' }),
  order: choice('order', ['asc', 'desc']).optional().meta({ default: 'desc' }),
  limit: wholeNumber('limit', { min: 1, max: 1_000, byDefault: 1_000 }),
  offset: wholeNumber('offset', { min: 0, max: MAX_OFFSET, byDefault: 0 }),
});
export type ListQuery = z.output<typeof listQuery>;

export const reducedListQuery = z.object({
  status: choice('status', ['all', 'completed', 'pending']).optional().meta({ default: 'all' }),
  sort: choice('sort', ['created_at', 'updated_at']).optional().meta({ default: 'created_at' }),
  order: choice('order', ['asc', 'desc']).optional().meta({ default: 'desc' }),
  page: wholeNumber('page', { min: 1, max: MAX_PAGE, byDefault: 1 }),
  limit: wholeNumber('limit', { min: 1, max: 100, byDefault: 50 }),
});
export type ReducedListQuery = z.output<typeof reducedListQuery>;

export const taskCreate = createTaskInput.meta({
  id: 'TaskCreate',
  examples: [{ title: 'Water the plants', dueDate: '2026-12-01T18:00:00Z', category: 'home', priority: 'high' }],
});
export const taskUpdate = updateTaskInput.meta({ id: 'TaskUpdate', examples: [{ completed: true, dueDate: null }] });

export const reducedTaskCreate = createTaskInput
  .pick({ title: true, description: true })
  .meta({ id: 'ReducedTaskCreate', examples: [{ title: 'Water the plants', description: 'All but the cactus.' }] });
export const reducedTaskUpdate = updateTaskInput
  .pick({ title: true, description: true, completed: true })
  .meta({ id: 'ReducedTaskUpdate', examples: [{ completed: true }] });

export const signUp = signUpInput.meta({
  id: 'SignUp',
  examples: [{ email: 'ada@example.com', password: 'a long and winding phrase', name: 'Ada' }],
});
export const login = loginInput.meta({
  id: 'Login',
  examples: [{ email: 'ada@example.com', password: 'a long and winding phrase' }],
});
export const forgotPassword = forgotPasswordInput.meta({
  id: 'ForgotPassword',
  examples: [{ email: 'ada@example.com' }],
});

/** Opaque, and bounded as everything that is looked up. */
const opaque = (what: string) =>
  z
    .string({ error: `${what} must be a string.` })
    .min(1, `${what} must not be empty.`)
    .max(1_024, `${what} is too long.`)
    .refine((value) => value.isWellFormed() && !value.includes('\0'), `${what} must be text.`);

export const resetPassword = z.object({ token: opaque('token'), password }).meta({
  id: 'ResetPassword',
  examples: [{ token: 'token-of-the-recovery-mail', password: 'another long and winding phrase' }],
});
export const refresh = z
  .object({ refresh_token: opaque('refresh_token') })
  .meta({ id: 'Refresh', examples: [{ refresh_token: 'opaque-token' }] });

// ----------------------------------------------------------------- answers

const EXAMPLE_USER_ID = '0199e1c2-5b7a-7cc3-98c4-dc0c0c07398f';
const EXAMPLE_TASK_ID = '0199e1c3-0a41-7d1e-8d5c-2f6a8a1b9c3d';

const uuid = z.string().meta({ format: 'uuid' });
const time = z.string().meta({ format: 'date-time', description: 'UTC, with milliseconds and Z.' });
const message = z.string().meta({ description: 'A sentence for people.' });
const seconds = z.int().meta({ description: 'Unix seconds.' });

export const session = z
  .object({
    access_token: z.string().meta({ description: 'A JWT for the `Authorization: Bearer` header.' }),
    user: z.object({ id: uuid, email: z.string(), email_confirmed_at: time }),
  })
  .meta({
    id: 'Session',
    examples: [
      {
        access_token: 'eyJhbGciOiJFUzI1NiIsInR5cCI6ImF0K2p3dCJ9.e30.c2ln',
        user: { id: EXAMPLE_USER_ID, email: 'ada@example.com', email_confirmed_at: '2026-11-20T10:00:00.000Z' },
      },
    ],
  });
export type SessionBody = z.output<typeof session>;

export const tokenClaims = z.object({ userId: uuid, email: z.string(), iat: seconds, exp: seconds }).meta({
  id: 'TokenClaims',
  examples: [{ userId: EXAMPLE_USER_ID, email: 'ada@example.com', iat: 1_795_168_800, exp: 1_795_172_400 }],
});
export type TokenClaimsBody = z.output<typeof tokenClaims>;

export const refreshedTokens = z
  .object({ access_token: z.string(), refresh_token: z.string(), expires_in: z.int() })
  .meta({
    id: 'RefreshedTokens',
    examples: [
      {
        access_token: 'eyJhbGciOiJFUzI1NiIsInR5cCI6ImF0K2p3dCJ9.e30.c2ln',
        refresh_token: 'opaque-token',
        expires_in: 3_600,
      },
    ],
  });
export type RefreshedTokensBody = z.output<typeof refreshedTokens>;

export const messageOnly = z.object({ message }).meta({ id: 'Message', examples: [{ message: 'Done.' }] });
export type MessageBody = z.output<typeof messageOnly>;

const EXAMPLE_REDUCED_TASK = {
  id: EXAMPLE_TASK_ID,
  user_id: EXAMPLE_USER_ID,
  title: 'Water the plants',
  description: null,
  completed: false,
  created_at: '2026-11-20T10:00:00.000Z',
  updated_at: '2026-11-20T10:00:00.000Z',
};

export const reducedTask = z
  .object({
    id: uuid,
    user_id: uuid,
    title: z.string(),
    description: z.string().nullable(),
    completed: z.boolean(),
    created_at: time,
    updated_at: time,
  })
  .meta({ id: 'ReducedTask', examples: [EXAMPLE_REDUCED_TASK] });
export type ReducedTaskBody = z.output<typeof reducedTask>;

const EXAMPLE_TASK = {
  ...EXAMPLE_REDUCED_TASK,
  due_date: '2026-12-01T18:00:00.000Z',
  category: 'home',
  priority: 'high' as const,
};

export const task = reducedTask
  .extend({ due_date: time.nullable(), category: z.string().nullable(), priority: z.enum(PRIORITIES) })
  .meta({ id: 'Task', examples: [EXAMPLE_TASK] });
export type TaskBody = z.output<typeof task>;

const success = z.literal(true);

export const oneTask = z
  .object({ success, message, data: task })
  .meta({ id: 'TaskAnswer', examples: [{ success: true, message: 'Task found.', data: EXAMPLE_TASK }] });
export type OneTaskBody = z.output<typeof oneTask>;

export const taskList = z
  .object({ success, message, count: z.int().meta({ description: 'The length of `data`.' }), data: z.array(task) })
  .meta({ id: 'TaskList', examples: [{ success: true, message: '1 task found.', count: 1, data: [EXAMPLE_TASK] }] });
export type TaskListBody = z.output<typeof taskList>;

export const statistics = z
  .object({
    success,
    message,
    data: z.object({
      total: z.int(),
      completed: z.int(),
      pending: z.int(),
      completionPercentage: z.number().min(0).max(100),
    }),
  })
  .meta({
    id: 'TaskStatistics',
    examples: [
      {
        success: true,
        message: 'Statistics of your tasks.',
        data: { total: 3, completed: 1, pending: 2, completionPercentage: 33.33 },
      },
    ],
  });
export type StatisticsBody = z.output<typeof statistics>;

export const deleted = z
  .object({ success, message })
  .meta({ id: 'TaskDeleted', examples: [{ success: true, message: 'Task deleted.' }] });
export type DeletedBody = z.output<typeof deleted>;

export const reducedList = z
  .object({ data: z.array(reducedTask), total: z.int().meta({ description: 'All that match.' }), page: z.int() })
  .meta({ id: 'ReducedTaskList', examples: [{ data: [EXAMPLE_REDUCED_TASK], total: 1, page: 1 }] });
export type ReducedListBody = z.output<typeof reducedList>;

// ------------------------------------------------------------------ errors

const error = z.object({
  code: z.string().meta({ description: 'Stable; made for programs.' }),
  details: z
    .array(z.object({ path: z.string().meta({ description: 'The field, as it was sent.' }), message: z.string() }))
    .optional(),
  requestId: z
    .string()
    .optional()
    .meta({ description: 'With 5xx only: names the request to whoever runs the service.' }),
});

export const plainError = z.object({ message, error }).meta({ id: 'Error' });
export const tasksError = z.object({ success: z.literal(false), message, error }).meta({ id: 'TasksError' });
