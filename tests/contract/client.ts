import type { DescriptionCheck } from '@taskmesh/testing/api-description';
import { randomUUID } from 'node:crypto';
import type { Platform } from './platform.ts';

/** Requests that take longer fail. */
const HANG_MS = 5_000;

export interface Task {
  id: string;
  user_id: string;
  title: string;
  description: string | null;
  completed: boolean;
  due_date: string | null;
  category: string | null;
  priority: string;
  created_at: string;
  updated_at: string;
}

export interface ErrorPart {
  code: string;
  details?: { path: string; message: string }[];
  requestId?: string;
}

/** The fields of all response bodies. Tests check which of them are present. */
export interface Body<Data = Task> {
  success: boolean;
  message: string;
  count: number;
  total: number;
  page: number;
  data: Data;
  error: ErrorPart;
  access_token: string;
  refresh_token: string;
  user: { id: string; email: string; email_confirmed_at: string };
}

export interface Answer<Content = Body> {
  status: number;
  headers: Headers;
  text: string;
  /** The parsed JSON; undefined if the response is not JSON. */
  body: Content;
}

export interface CallOptions {
  token?: string | undefined;
  json?: unknown;
  /** The unencoded body, sent as JSON unless `headers` set another type. */
  raw?: string | Buffer<ArrayBuffer>;
  headers?: Record<string, string>;
}

export interface Account {
  id: string;
  email: string;
  token: string;
}

export type Client = ReturnType<typeof createClient>;

export const PASSWORD = 'correct horse battery staple';
export const newEmail = () => `${randomUUID()}@example.com`;

/** A client that compares each response with the API description of the platform. */
export const clientOf = (platform: () => Platform) =>
  createClient(
    () => platform().url,
    () => platform().description,
  );

/** An HTTP client of the product, without knowledge of its internals. `path` begins with the prefix of a contract. */
export function createClient(origin: () => string, description?: () => DescriptionCheck) {
  async function call<Content = Body>(
    method: string,
    path: string,
    options: CallOptions = {},
  ): Promise<Answer<Content>> {
    const { token, json, raw = json === undefined ? undefined : JSON.stringify(json), headers } = options;
    const response = await fetch(origin() + path, {
      method,
      redirect: 'manual',
      signal: AbortSignal.timeout(HANG_MS),
      headers: {
        ...(raw !== undefined && { 'content-type': 'application/json' }),
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
        ...headers,
      },
      ...(raw !== undefined && { body: raw }),
    });
    const text = await response.text();
    description?.().check({ method, path, status: response.status, headers: response.headers, text });
    const isJson = response.headers.get('content-type')?.startsWith('application/json') ?? false;
    // The test declares the type of the body, and then checks it.
    return {
      status: response.status,
      headers: response.headers,
      text,
      body: (isJson && text ? JSON.parse(text) : undefined) as Content,
    };
  }

  return {
    call,
    origin,
    async signUp(email = newEmail()): Promise<Account> {
      const { status, body } = await call('POST', '/api/auth/signup', {
        json: { email, password: PASSWORD, name: 'Ada Lovelace' },
      });
      if (status !== 201) throw new Error(`sign-up was answered with ${status}`);
      return { id: body.user.id, email, token: body.access_token };
    },
    logIn: (email: string, password = PASSWORD) => call('POST', '/api/auth/login', { json: { email, password } }),
    graphql: <Data = Record<string, never>>(
      query: string,
      options: { token?: string | undefined; variables?: object } = {},
    ) =>
      call<{ data: Data; errors?: { message: string; extensions: { code: string } & Record<string, unknown> }[] }>(
        'POST',
        '/graphql',
        {
          ...(options.token !== undefined && { token: options.token }),
          json: { query, variables: options.variables },
        },
      ),
  };
}

export const keysOf = (value: object) => Object.keys(value).toSorted();
