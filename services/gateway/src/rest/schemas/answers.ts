import { type TaskRow, PRIORITIES } from '@taskmesh/contracts';
import { z } from 'zod';
import { answered, flag, listed, message, named, success, text, time, uuid, whole } from './parts.ts';

const EXAMPLE_USER_ID = '0199e1c2-5b7a-7cc3-98c4-dc0c0c07398f';
const EXAMPLE_TASK_ID = '0199e1c3-0a41-7d1e-8d5c-2f6a8a1b9c3d';
const EXAMPLE_SESSION_ID = '0199e1c2-9d3e-7b0a-a1f4-51c0de5a7e11';
const EXAMPLE_ADDRESS = { email: 'ada@example.com', email_confirmed_at: '2026-11-20T10:00:00.000Z' };
const EXAMPLE_JWT = 'eyJhbGciOiJFUzI1NiIsInR5cCI6ImF0K2p3dCJ9.e30.c2ln';

export const session = named(
  'Session',
  z.object({
    access_token: text('A JWT for the `Authorization: Bearer` header.'),
    refresh_token: z
      .string()
      .optional()
      .meta({ description: 'For `/auth/refresh`; present if `refresh` was requested.' }),
    user: z.object({ id: uuid, email: z.string(), email_confirmed_at: time }),
  }),
  { access_token: EXAMPLE_JWT, user: { id: EXAMPLE_USER_ID, ...EXAMPLE_ADDRESS } },
);

const seconds = whole('Unix seconds.');

export const tokenClaims = named(
  'TokenClaims',
  z.object({ userId: uuid, email: z.string(), iat: seconds, exp: seconds }),
  { userId: EXAMPLE_USER_ID, email: 'ada@example.com', iat: 1_795_168_800, exp: 1_795_172_400 },
);

export const refreshedTokens = named(
  'RefreshedTokens',
  z.object({ access_token: z.string(), refresh_token: z.string(), expires_in: z.int() }),
  { access_token: EXAMPLE_JWT, refresh_token: 'opaque-token', expires_in: 3_600 },
);

export const messageOnly = named('Message', z.object({ message }), { message: 'Done.' });

const EXAMPLE_PROFILE = { id: EXAMPLE_USER_ID, email: 'ada@example.com', name: 'Ada' };

export const profile = named(
  'Profile',
  z.object({ id: uuid, email: z.string(), name: z.string(), email_confirmed_at: time }),
  { ...EXAMPLE_PROFILE, ...EXAMPLE_ADDRESS },
);

const personalToken = z.object({
  id: uuid,
  name: z.string(),
  scope: z.enum(['read', 'write']),
  created_at: time,
  expires_at: time,
  last_used_at: time.nullable().meta({ description: 'Accurate to the minute; null until its first use.' }),
});

const EXAMPLE_TOKEN = {
  id: '0199e1c5-31f0-7c52-b0a4-7d9e2c4f6a10',
  name: 'Backup of my tasks',
  scope: 'read' as const,
  created_at: '2026-11-20T10:00:00.000Z',
  expires_at: '2027-02-18T10:00:00.000Z',
  last_used_at: null,
};

export const tokenList = named('TokenList', z.object({ tokens: z.array(personalToken) }), { tokens: [EXAMPLE_TOKEN] });

export const newToken = named(
  'NewToken',
  personalToken.extend({ token: text('Shown only once; used like an access token.') }),
  { ...EXAMPLE_TOKEN, token: 'taskmesh_pat_bm90LWEtdG9rZW4tYnV0LWFzLWxvbmctYXMtb25lLWlz' },
);

export const signInProvider = named('SignInProvider', z.object({ name: text('Its name, for people.') }), {
  name: 'Example',
});

const EXAMPLE_IDENTITY = {
  id: '0199e1c6-88b2-7a41-9c3e-6f0d1b2a3c4d',
  issuer: 'https://login.example.com',
  email: 'ada@example.com',
  created_at: '2026-11-20T10:00:00.000Z',
  last_used_at: '2026-11-24T08:15:00.000Z',
};

export const linkedIdentity = named(
  'LinkedIdentity',
  z.object({
    id: uuid,
    issuer: text('The issuer URL of the provider.'),
    email: text('The verified address at the time of linking.'),
    created_at: time,
    last_used_at: time,
  }),
  EXAMPLE_IDENTITY,
);

export const linkedIdentityList = named('LinkedIdentityList', z.object({ identities: z.array(linkedIdentity) }), {
  identities: [EXAMPLE_IDENTITY],
});

const trailEntry = z.object({
  id: z.string(),
  at: time,
  kind: text('What happened, such as `session.opened`.'),
  session_id: uuid.nullable().meta({ description: 'The session or personal token concerned.' }),
  ip: z.string().nullable(),
});

const EXAMPLE_ENTRY = {
  ...{ id: '1', at: '2026-11-20T10:00:00.000Z', kind: 'account.created' },
  ...{ session_id: EXAMPLE_SESSION_ID, ip: '192.0.2.7' },
};

export const auditTrail = named('AuditTrail', z.object({ entries: z.array(trailEntry) }), {
  entries: [EXAMPLE_ENTRY],
});

const openSession = z.object({
  id: uuid,
  created_at: time,
  last_used_at: time.meta({ description: 'Accurate to the minute.' }),
  ip: z.string().nullable().meta({ description: 'The IP address from which it was opened or last refreshed.' }),
  client: z.string().nullable().meta({ description: 'The `User-Agent` of that request.' }),
  current: flag('Whether this request belongs to it.'),
});

export const sessionList = named('SessionList', z.object({ sessions: z.array(openSession) }), {
  sessions: [
    {
      id: EXAMPLE_SESSION_ID,
      created_at: '2026-11-20T10:00:00.000Z',
      last_used_at: '2026-11-20T18:30:00.000Z',
      ip: '192.0.2.7',
      client: 'Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0',
      current: true,
    },
  ],
});

const EXAMPLE_REDUCED_TASK = {
  id: EXAMPLE_TASK_ID,
  user_id: EXAMPLE_USER_ID,
  title: 'Water the plants',
  description: null,
  completed: false,
  created_at: '2026-11-20T10:00:00.000Z',
  updated_at: '2026-11-20T10:00:00.000Z',
};

export const reducedTask = named(
  'ReducedTask',
  z.object({
    id: uuid,
    user_id: uuid,
    title: z.string(),
    description: z.string().nullable(),
    completed: z.boolean(),
    created_at: time,
    updated_at: time,
  }),
  EXAMPLE_REDUCED_TASK,
);
export type ReducedTaskBody = z.output<typeof reducedTask>;

const EXAMPLE_TASK = {
  ...EXAMPLE_REDUCED_TASK,
  due_date: '2026-12-01T18:00:00.000Z',
  category: 'home',
  priority: 'high',
} satisfies Omit<TaskRow, 'version'>;

/** Every column of a task except its version, which is the ETag. */
export const task = named(
  'Task',
  reducedTask.extend({
    due_date: time.nullable(),
    category: z.string().nullable(),
    priority: z.enum(PRIORITIES),
  } satisfies Record<Exclude<keyof TaskRow, keyof ReducedTaskBody | 'version'>, z.ZodType>),
  EXAMPLE_TASK,
);
export type TaskBody = z.output<typeof task>;

export const oneTask = answered('TaskAnswer', task, 'Task found.', EXAMPLE_TASK);

export const taskList = listed('TaskList', task, '1 task found.', EXAMPLE_TASK);

export const statistics = answered(
  'TaskStatistics',
  z.object({
    total: z.int(),
    completed: z.int(),
    pending: z.int(),
    completionPercentage: z.number().min(0).max(100),
  }),
  'Statistics of your tasks.',
  { total: 3, completed: 1, pending: 2, completionPercentage: 33.33 },
);

export const deleted = named('TaskDeleted', z.object({ success, message }), {
  success: true,
  message: 'Task deleted.',
});

export const reducedList = named(
  'ReducedTaskList',
  z.object({
    data: z.array(reducedTask),
    total: whole('The number of tasks that match, on all pages.'),
    page: z.int(),
  }),
  { data: [EXAMPLE_REDUCED_TASK], total: 1, page: 1 },
);

export const accountExport = named(
  'AccountExport',
  z.object({
    profile,
    sessions: sessionList.shape.sessions,
    tokens: tokenList.shape.tokens,
    identities: linkedIdentityList.shape.identities,
    audit: auditTrail.shape.entries,
    tasks: z.array(task),
  }),
  {
    profile: { ...EXAMPLE_PROFILE, email_confirmed_at: EXAMPLE_ADDRESS.email_confirmed_at },
    ...{ sessions: [], tokens: [EXAMPLE_TOKEN], identities: [EXAMPLE_IDENTITY] },
    ...{ audit: [EXAMPLE_ENTRY], tasks: [EXAMPLE_TASK] },
  },
);
