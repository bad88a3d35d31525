import { randomUUID } from 'node:crypto';

/** A response: status, headers, and the parsed JSON body. */
export interface RestResponse<Body = Record<string, unknown>> {
  status: number;
  headers: Headers;
  body: Body;
}

export interface RestRequest {
  token?: string;
  body?: unknown;
  headers?: Record<string, string>;
}

/** `fetch`, with errors that name the request: whether one fails at once or after a while shows who closed the connection. */
async function send(url: string, init: RequestInit & { method: string }): Promise<Response> {
  const sentAt = performance.now();
  return fetch(url, init).catch((cause: unknown) => {
    const ms = Math.round(performance.now() - sentAt);
    throw new Error(`${init.method} ${url} had no response after ${ms} ms`, { cause });
  });
}

/** A REST client by the interface document alone. `path` is relative to `/api`. */
export function createRest(url: string) {
  return async function rest<Body = Record<string, unknown>>(
    method: string,
    path: string,
    { token, body, headers }: RestRequest = {},
  ): Promise<RestResponse<Body>> {
    const response = await send(`${url}/api${path}`, {
      method,
      headers: {
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...(token && { authorization: `Bearer ${token}` }),
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    return { status: response.status, headers: response.headers, body: (await response.json()) as Body }; // typed by the test
  };
}

export type Rest = ReturnType<typeof createRest>;

export interface GraphqlResponse<Data> {
  data: Data;
  errors?: { message: string; path?: (string | number)[]; extensions: { code: string } & Record<string, unknown> }[];
}

/** A GraphQL client over POST. */
export function createGraphql(url: string) {
  return async function graphql<Data = Record<string, never>>(
    query: string,
    { token, variables }: { token?: string; variables?: Record<string, unknown> } = {},
  ): Promise<GraphqlResponse<Data>> {
    const response = await send(`${url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...(token && { authorization: `Bearer ${token}` }) },
      body: JSON.stringify({ query, variables }),
    });
    return (await response.json()) as GraphqlResponse<Data>; // typed by the test
  };
}

export interface Account {
  email: string;
  password: string;
}

export const newAccount = (): Account => ({
  email: `${randomUUID()}@example.com`,
  password: 'correct horse battery staple',
});

interface RestSession {
  access_token: string;
  user: { id: string };
}

interface RestTask {
  id: string;
  title: string;
  completed: boolean;
}

/** Requests of one user over REST. */
function workOf(url: string, token: string) {
  const rest = createRest(url);
  return {
    token,
    /** Returns the id of the new task. */
    create: async (title: string, more: object = {}) =>
      (await rest<{ data: RestTask }>('POST', '/tasks', { token, body: { title, ...more } })).body.data.id,
    change: (id: string, body: object) => rest('PATCH', `/tasks/${id}`, { token, body }),
    remove: (id: string) => rest('DELETE', `/tasks/${id}`, { token }),
    list: async () => (await rest<{ data: RestTask[] }>('GET', '/tasks', { token })).body.data,
    titles: async () =>
      (await rest<{ data: RestTask[] }>('GET', '/tasks', { token })).body.data.map(({ title }) => title),
    signOut: () => rest('POST', '/auth/logout', { token }),
    endOtherSessions: () => rest('DELETE', '/auth/sessions', { token }),
  };
}

export type Owner = Awaited<ReturnType<typeof register>>;

/** Signs up with a new account. */
export async function register(url: string, account = newAccount(), name = 'Ada') {
  const { status, body } = await createRest(url)<RestSession>('POST', '/auth/signup', { body: { ...account, name } });
  if (status !== 201) throw new Error(`Sign-up failed with ${status}.`);
  return { ...account, id: body.user.id, ...workOf(url, body.access_token) };
}

/** Logs in with an existing account, as another device does. */
export async function logIn(url: string, { email, password }: Account) {
  const { status, body } = await createRest(url)<RestSession>('POST', '/auth/login', { body: { email, password } });
  if (status !== 200) throw new Error(`Login failed with ${status}.`);
  return { email, password, id: body.user.id, ...workOf(url, body.access_token) };
}

/** Returns the current cursor of an owner's feed. */
export async function readCursor(url: string, token: string): Promise<string> {
  const { data } = await createGraphql(url)<{ tasks: { changesCursor: string } }>('{ tasks { changesCursor } }', {
    token,
  });
  return data.tasks.changesCursor;
}
