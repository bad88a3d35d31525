import { type TaskRow, PRIORITIES } from '@taskmesh/contracts';
import { z } from 'zod';
import { dataSchema, flag, listSchema, message, named, text, time, uuid, integer } from './parts.ts';

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
);

const seconds = integer('Unix seconds.');

export const tokenClaims = named(
  'TokenClaims',
  z.object({ userId: uuid, email: z.string(), iat: seconds, exp: seconds }),
);

export const refreshedTokens = named(
  'RefreshedTokens',
  z.object({ access_token: z.string(), refresh_token: z.string(), expires_in: z.int() }),
);

export const messageOnly = named('Message', z.object({ message }));

export const profile = named(
  'Profile',
  z.object({ id: uuid, email: z.string(), name: z.string(), email_confirmed_at: time }),
);

const personalToken = z.object({
  id: uuid,
  name: z.string(),
  scope: z.enum(['read', 'write']),
  created_at: time,
  expires_at: time,
  last_used_at: time.nullable().meta({ description: 'Accurate to the minute; null until its first use.' }),
});

export const tokenList = named('TokenList', z.object({ tokens: z.array(personalToken) }));

export const newToken = named(
  'NewToken',
  personalToken.extend({ token: text('Shown only once; used like an access token.') }),
);

export const signInProvider = named('SignInProvider', z.object({ name: text('Its name, for people.') }));

export const linkedIdentity = named(
  'LinkedIdentity',
  z.object({
    id: uuid,
    issuer: text('The issuer URL of the provider.'),
    email: text('The verified address at the time of linking.'),
    created_at: time,
    last_used_at: time,
  }),
);

export const linkedIdentityList = named('LinkedIdentityList', z.object({ identities: z.array(linkedIdentity) }));

const trailEntry = z.object({
  id: z.string(),
  at: time,
  kind: text('What happened, such as `session.opened`.'),
  session_id: uuid.nullable().meta({ description: 'The session or personal token concerned.' }),
  ip: z.string().nullable(),
});

export const auditTrail = named('AuditTrail', z.object({ entries: z.array(trailEntry) }));

const openSession = z.object({
  id: uuid,
  created_at: time,
  last_used_at: time.meta({ description: 'Accurate to the minute.' }),
  ip: z.string().nullable().meta({ description: 'The IP address from which it was opened or last refreshed.' }),
  client: z.string().nullable().meta({ description: 'The `User-Agent` of that request.' }),
  current: flag('Whether this request belongs to it.'),
});

export const sessionList = named('SessionList', z.object({ sessions: z.array(openSession) }));

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
);
export type ReducedTaskBody = z.output<typeof reducedTask>;

/** Every column of a task except its version, which is the ETag. */
export const task = named(
  'Task',
  reducedTask.extend({
    due_date: time.nullable(),
    category: z.string().nullable(),
    priority: z.enum(PRIORITIES),
  } satisfies Record<Exclude<keyof TaskRow, keyof ReducedTaskBody | 'version'>, z.ZodType>),
);
export type TaskBody = z.output<typeof task>;

export const taskResponse = dataSchema('TaskAnswer', task);

export const taskList = listSchema('TaskList', task);

export const statistics = dataSchema(
  'TaskStatistics',
  z.object({
    total: z.int(),
    completed: z.int(),
    pending: z.int(),
    completionPercentage: z.number().min(0).max(100),
  }),
);

export const reducedList = named(
  'ReducedTaskList',
  z.object({
    data: z.array(reducedTask),
    total: integer('The number of tasks that match, on all pages.'),
    page: z.int(),
  }),
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
);
