import {
  beginSignInInput,
  changeEmailInput,
  changeNameInput,
  choice,
  confirmEmailInput,
  createTaskInput,
  deleteAccountInput,
  forgotPasswordInput,
  linkIdentityInput,
  loginInput,
  password,
  personalTokenInput,
  PRIORITIES,
  signInWithCodeInput,
  signUpInput,
  stringField,
  timestamp,
  updateTaskInput,
} from '@taskmesh/contracts';
import { z } from 'zod';
import { bodyOf } from './parts.ts';

const MAX_OFFSET = 2 ** 31 - 1;
const MAX_LIMIT = 1_000;
/** The last page whose offset the graph accepts with any limit. */
const MAX_PAGE = Math.floor(MAX_OFFSET / MAX_LIMIT) + 1;

/** A query parameter that is a whole number in decimal digits. */
export function wholeNumber(what: string, { min, max, byDefault }: { min: number; max: number; byDefault?: number }) {
  const isInRange = (value: string) => /^\d{1,10}$/.test(value) && Number(value) >= min && Number(value) <= max;
  return z
    .string()
    .refine(isInRange, `${what} must be a whole number from ${min} to ${max}.`)
    .transform(Number)
    .optional()
    .meta({ type: 'integer', minimum: min, maximum: max, ...(byDefault !== undefined && { default: byDefault }) });
}

/** Accepts any text: a category that no task can have simply finds nothing. */
const categoryFilter = z
  .string()
  .refine(
    (value) => value.isWellFormed() && !value.includes('\0'),
    'category must not contain NUL characters or lone surrogates.',
  );

export const listQuery = z.object({
  // Client generators send a boolean as one of these words.
  completed: choice('completed', ['true', 'false']).optional().meta({ type: 'boolean', enum: undefined }),
  category: categoryFilter.optional(),
  priority: choice('priority', PRIORITIES).optional(),
  sortBy: choice('sortBy', ['created_at', 'due_date', 'priority']).optional().meta({ default: 'created_at' }),
  order: choice('order', ['asc', 'desc']).optional().meta({ default: 'desc' }),
  limit: wholeNumber('limit', { min: 1, max: MAX_LIMIT, byDefault: MAX_LIMIT }),
  offset: wholeNumber('offset', { min: 0, max: MAX_OFFSET, byDefault: 0 }),
});
export type ListQuery = z.output<typeof listQuery>;

export const reducedListQuery = z.object({
  status: choice('status', ['all', 'completed', 'pending']).optional().meta({ default: 'all' }),
  sort: choice('sort', ['created_at', 'updated_at']).optional().meta({ default: 'created_at' }),
  order: choice('order', ['asc', 'desc']).optional().meta({ default: 'desc' }),
  page: wholeNumber('page', { min: 1, max: MAX_PAGE, byDefault: 1 }),
  limit: wholeNumber('limit', { min: 1, max: MAX_LIMIT, byDefault: MAX_LIMIT }),
});

export const auditQuery = z.object({
  limit: wholeNumber('limit', { min: 1, max: 1_000, byDefault: 100 }),
  after: z
    .string()
    .regex(/^-?\d{1,18}$/, 'after must be the id of an entry.')
    .optional()
    .meta({ description: 'The id of the last entry already read.' }),
});

/**
 * Clients may send back what they read, where the field is `due_date` instead of `dueDate`. The description leaves it
 * out: generators give both the same name.
 */
const asRead = { due_date: timestamp('due_date').nullish().meta({ isDescribed: false }) };

/** If there is a `dueDate`, `due_date` is not even validated. */
const withOneDueDate = (body: unknown) =>
  typeof body === 'object' && body && 'dueDate' in body ? { ...body, due_date: undefined } : body;

function withDueDate<Fields extends { due_date?: string | null | undefined }>({ due_date, ...fields }: Fields) {
  return due_date === undefined ? fields : { ...fields, dueDate: due_date };
}

const DUE_DATE = 'If `dueDate` is absent, `due_date` is used.';

export const taskCreate = bodyOf(
  'TaskCreate',
  z.preprocess(withOneDueDate, createTaskInput.extend(asRead).transform(withDueDate)).meta({ description: DUE_DATE }),
  { title: 'Water the plants', dueDate: '2026-12-01T18:00:00Z', category: 'home', priority: 'high' },
);
export const taskUpdate = bodyOf(
  'TaskUpdate',
  z.preprocess(withOneDueDate, updateTaskInput.extend(asRead).transform(withDueDate)).meta({ description: DUE_DATE }),
  { completed: true, dueDate: null },
);

export const reducedTaskCreate = bodyOf('ReducedTaskCreate', createTaskInput.pick({ title: true, description: true }), {
  title: 'Water the plants',
  description: 'All but the cactus.',
});
export const reducedTaskUpdate = bodyOf(
  'ReducedTaskUpdate',
  updateTaskInput.pick({ title: true, description: true, completed: true }),
  { completed: true },
);

/** Only `true` counts. Clients that do not know the field may send anything. */
const refresh = z
  .unknown()
  .optional()
  .transform((value) => value === true)
  .meta({ type: 'boolean', description: 'Whether to return a refresh token. Default: `false`.' });

/** The default of auth's `PASSWORD_MIN_LENGTH`, which may be higher. */
const newPassword = password.meta({ minLength: 8, maxLength: 128 });

const EXAMPLE_PASSWORD = 'a long and winding phrase';
const EXAMPLE_LOGIN = { email: 'ada@example.com', password: EXAMPLE_PASSWORD };

export const signUp = bodyOf('SignUp', signUpInput.extend({ refresh, password: newPassword }), {
  ...EXAMPLE_LOGIN,
  name: 'Ada',
});
export const login = bodyOf('Login', loginInput.extend({ refresh }), EXAMPLE_LOGIN);
export const forgotPassword = bodyOf('ForgotPassword', forgotPasswordInput, { email: 'ada@example.com' });

/** An opaque string, bounded because it is used for a lookup. */
const opaque = (what: string) =>
  stringField(what)
    .min(1, `${what} must not be empty.`)
    .max(1_024, `${what} is too long.`)
    .refine((value) => value.isWellFormed() && !value.includes('\0'), `${what} must be text.`);

export const resetPassword = bodyOf('ResetPassword', z.object({ token: opaque('token'), password: newPassword }), {
  token: 'token-of-the-recovery-mail',
  password: 'another long and winding phrase',
});
export const createToken = bodyOf(
  'CreateToken',
  personalTokenInput.pick({ name: true, scope: true }).extend({ expires_at: timestamp('expires_at') }),
  { name: 'Backup of my tasks', scope: 'read', expires_at: '2027-02-18T10:00:00Z' },
);

export const changeName = bodyOf('ChangeName', changeNameInput, { name: 'Ada Lovelace' });
export const changePassword = bodyOf(
  'ChangePassword',
  z.object({ current_password: password, password: newPassword }),
  {
    current_password: EXAMPLE_PASSWORD,
    password: 'another long and winding phrase',
  },
);
export const changeEmail = bodyOf('ChangeEmail', changeEmailInput, {
  email: 'ada@example.org',
  password: EXAMPLE_PASSWORD,
});
export const deleteAccount = bodyOf('DeleteAccount', deleteAccountInput, { password: EXAMPLE_PASSWORD });
export const confirmEmail = bodyOf(
  'ConfirmEmail',
  z.object({ token: opaque('token'), password: confirmEmailInput.shape.password }),
  { token: 'token-of-the-mail', password: EXAMPLE_PASSWORD },
);
export const beginSignIn = z.object({
  return_to: beginSignInInput.shape.returnTo.meta({
    description: 'The path on this origin that the browser returns to.',
    default: '/',
  }),
  code_challenge: beginSignInInput.shape.codeChallenge.meta({
    description: 'The base64url-encoded SHA-256 of a secret of 43 to 128 characters, as defined by PKCE (RFC 7636).',
  }),
});
/** As the provider sends it. */
export const signInResult = z.object({
  state: z.string(),
  code: z.string().optional(),
  iss: z.string().optional(),
  error: z.string().optional(),
  error_description: z.string().optional(),
});

const EXAMPLE_CODE = {
  code: 'code-of-the-fragment',
  verifier: 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk',
};
export const signInWithCode = bodyOf('SignInWithCode', signInWithCodeInput.extend({ refresh }), EXAMPLE_CODE);
export const linkIdentity = bodyOf('LinkIdentity', linkIdentityInput, { ...EXAMPLE_CODE, password: EXAMPLE_PASSWORD });
export const refreshSession = bodyOf('Refresh', z.object({ refresh_token: opaque('refresh_token') }), {
  refresh_token: 'opaque-token',
});
