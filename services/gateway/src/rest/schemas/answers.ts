import { type TaskRow, PRIORITIES } from '@taskmesh/contracts';
import { z } from 'zod';

const EXAMPLE_USER_ID = '0199e1c2-5b7a-7cc3-98c4-dc0c0c07398f';
const EXAMPLE_TASK_ID = '0199e1c3-0a41-7d1e-8d5c-2f6a8a1b9c3d';

const uuid = z.string().meta({ format: 'uuid' });
const time = z.string().meta({ format: 'date-time', description: 'In UTC, with milliseconds and Z.' });
const message = z.string().meta({ description: 'For people to read.' });
const seconds = z.int().meta({ description: 'Unix seconds.' });

export const session = z
  .object({
    access_token: z.string().meta({ description: 'A JWT for the `Authorization: Bearer` header.' }),
    refresh_token: z
      .string()
      .optional()
      .meta({ description: 'For `/auth/refresh`; present if `refresh` was requested.' }),
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

export const profile = z.object({ id: uuid, email: z.string(), name: z.string(), email_confirmed_at: time }).meta({
  id: 'Profile',
  examples: [
    {
      ...{ id: EXAMPLE_USER_ID, email: 'ada@example.com', name: 'Ada' },
      email_confirmed_at: '2026-11-20T10:00:00.000Z',
    },
  ],
});
export type ProfileBody = z.output<typeof profile>;

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

export const tokenList = z
  .object({ tokens: z.array(personalToken) })
  .meta({ id: 'TokenList', examples: [{ tokens: [EXAMPLE_TOKEN] }] });
export type TokenListBody = z.output<typeof tokenList>;

export const newToken = personalToken
  .extend({ token: z.string().meta({ description: 'Shown only once; used like an access token.' }) })
  .meta({
    id: 'NewToken',
    examples: [{ ...EXAMPLE_TOKEN, token: 'taskmesh_pat_bm90LWEtdG9rZW4tYnV0LWFzLWxvbmctYXMtb25lLWlz' }],
  });
export type NewTokenBody = z.output<typeof newToken>;

export const signInProvider = z
  .object({ name: z.string().meta({ description: 'Its name, for people.' }) })
  .meta({ id: 'SignInProvider', examples: [{ name: 'Example' }] });
export type SignInProviderBody = z.output<typeof signInProvider>;

const EXAMPLE_IDENTITY = {
  id: '0199e1c6-88b2-7a41-9c3e-6f0d1b2a3c4d',
  issuer: 'https://login.example.com',
  email: 'ada@example.com',
  created_at: '2026-11-20T10:00:00.000Z',
  last_used_at: '2026-11-24T08:15:00.000Z',
};

export const linkedIdentity = z
  .object({
    id: uuid,
    issuer: z.string().meta({ description: 'The issuer URL of the provider.' }),
    email: z.string().meta({ description: 'The verified address at the time of linking.' }),
    created_at: time,
    last_used_at: time,
  })
  .meta({ id: 'LinkedIdentity', examples: [EXAMPLE_IDENTITY] });

export const linkedIdentityList = z
  .object({ identities: z.array(linkedIdentity) })
  .meta({ id: 'LinkedIdentityList', examples: [{ identities: [EXAMPLE_IDENTITY] }] });
export type LinkedIdentityListBody = z.output<typeof linkedIdentityList>;

const trailEntry = z.object({
  id: z.string(),
  at: time,
  kind: z.string().meta({ description: 'What happened, such as `session.opened`.' }),
  session_id: uuid.nullable().meta({ description: 'The session or personal token concerned.' }),
  ip: z.string().nullable(),
});

const EXAMPLE_ENTRY = {
  ...{ id: '1', at: '2026-11-20T10:00:00.000Z', kind: 'account.created' },
  ...{ session_id: '0199e1c2-9d3e-7b0a-a1f4-51c0de5a7e11', ip: '192.0.2.7' },
};

export const auditTrail = z
  .object({ entries: z.array(trailEntry) })
  .meta({ id: 'AuditTrail', examples: [{ entries: [EXAMPLE_ENTRY] }] });
export type AuditTrailBody = z.output<typeof auditTrail>;

export const sessionList = z
  .object({
    sessions: z.array(
      z.object({
        id: uuid,
        created_at: time,
        last_used_at: time.meta({ description: 'Accurate to the minute.' }),
        ip: z.string().nullable().meta({ description: 'The IP address from which it was opened or last refreshed.' }),
        client: z.string().nullable().meta({ description: 'The `User-Agent` of that request.' }),
        current: z.boolean().meta({ description: 'Whether this request belongs to it.' }),
      }),
    ),
  })
  .meta({
    id: 'SessionList',
    examples: [
      {
        sessions: [
          {
            id: '0199e1c2-9d3e-7b0a-a1f4-51c0de5a7e11',
            created_at: '2026-11-20T10:00:00.000Z',
            last_used_at: '2026-11-20T18:30:00.000Z',
            ip: '192.0.2.7',
            client: 'Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0',
            current: true,
          },
        ],
      },
    ],
  });
export type SessionListBody = z.output<typeof sessionList>;

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
  priority: 'high',
} satisfies Omit<TaskRow, 'version'>;

/** Every column of a task except its version, which is the ETag. */
export const task = reducedTask
  .extend({
    due_date: time.nullable(),
    category: z.string().nullable(),
    priority: z.enum(PRIORITIES),
  } satisfies Record<Exclude<keyof TaskRow, keyof ReducedTaskBody | 'version'>, z.ZodType>)
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
  .object({
    data: z.array(reducedTask),
    total: z.int().meta({ description: 'The number of tasks that match, on all pages.' }),
    page: z.int(),
  })
  .meta({ id: 'ReducedTaskList', examples: [{ data: [EXAMPLE_REDUCED_TASK], total: 1, page: 1 }] });
export type ReducedListBody = z.output<typeof reducedList>;

export const accountExport = z
  .object({
    profile,
    sessions: sessionList.shape.sessions,
    tokens: tokenList.shape.tokens,
    identities: linkedIdentityList.shape.identities,
    audit: auditTrail.shape.entries,
    tasks: z.array(task),
  })
  .meta({
    id: 'AccountExport',
    examples: [
      {
        profile: {
          ...{ id: EXAMPLE_USER_ID, email: 'ada@example.com', name: 'Ada' },
          email_confirmed_at: '2026-11-20T10:00:00.000Z',
        },
        ...{
          sessions: [],
          tokens: [EXAMPLE_TOKEN],
          identities: [EXAMPLE_IDENTITY],
          audit: [EXAMPLE_ENTRY],
          tasks: [EXAMPLE_TASK],
        },
      },
    ],
  });
