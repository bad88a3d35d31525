import { randomUUID } from 'node:crypto';

/** A response with its parsed JSON, which the test types and then checks. */
export interface RestResponse<Body = Record<string, unknown>> {
  status: number;
  headers: Headers;
  text: string;
  /** Undefined if the response is not JSON. */
  body: Body;
}

export interface SendOptions {
  token?: string | undefined;
  json?: unknown;
  /** The unencoded body, sent as JSON unless `headers` set another type. */
  raw?: string | Buffer<ArrayBuffer> | undefined;
  headers?: Record<string, string> | undefined;
  signal?: AbortSignal;
}

/** Sends a request. Errors name it: whether one fails at once or after a while shows who closed the connection. */
export async function send<Body>(method: string, url: string, options: SendOptions): Promise<RestResponse<Body>> {
  const { token, json, raw = json === undefined ? undefined : JSON.stringify(json), headers, signal } = options;
  const sentAt = performance.now();
  const response = await fetch(url, {
    method,
    redirect: 'manual',
    headers: {
      ...(raw !== undefined && { 'content-type': 'application/json' }),
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...headers,
    },
    ...(raw !== undefined && { body: raw }),
    ...(signal && { signal }),
  }).catch((cause: unknown) => {
    const ms = Math.round(performance.now() - sentAt);
    throw new Error(`${method} ${url} had no response after ${ms} ms`, { cause });
  });
  const text = await response.text();
  const isJson = response.headers.get('content-type')?.startsWith('application/json') ?? false;
  const body = (isJson && text ? JSON.parse(text) : undefined) as Body;
  return { status: response.status, headers: response.headers, text, body };
}

/** A client of the API: every response is JSON, or empty. */
async function call<Body>(...request: Parameters<typeof send>): Promise<RestResponse<Body>> {
  const response = await send<Body>(...request);
  if (response.text && response.body === undefined)
    throw new Error(`${request[0]} ${request[1]} answered ${response.status}: ${response.text.slice(0, 500)}`);
  return response;
}

/** The address of the product, or a function that returns it, for tests that start the product themselves. */
type Address = string | (() => string);
const urlAt = (address: Address) => (typeof address === 'string' ? address : address());

export interface RestRequest {
  token?: string | undefined;
  body?: unknown;
  headers?: Record<string, string>;
}

/** A REST client by the interface document alone. `path` is relative to `/api`. */
export function createRest(address: Address) {
  return <Body = Record<string, unknown>>(method: string, path: string, { body, ...options }: RestRequest = {}) =>
    call<Body>(method, `${urlAt(address)}/api${path}`, { ...options, json: body });
}

export interface GraphqlResponse<Data> {
  data: Data;
  errors?: { message: string; path?: (string | number)[]; extensions: { code: string } & Record<string, unknown> }[];
}

/** A GraphQL client over POST. */
export function createGraphql(address: Address) {
  return async <Data = Record<string, never>>(
    query: string,
    { token, variables }: { token?: string; variables?: Record<string, unknown> } = {},
  ) =>
    (await call<GraphqlResponse<Data>>('POST', `${urlAt(address)}/graphql`, { token, json: { query, variables } }))
      .body;
}

/** Makes a backup. Returns the name of the archive. */
export async function makeBackup(address: Address, options: RestRequest = {}): Promise<string> {
  const { status, body } = await createRest(address)<{ data: { file: string } }>('POST', '/backups', options);
  if (status !== 201) throw new Error(`The backup failed with ${status}.`);
  return body.data.file;
}

export const restoreBackup = (address: Address, file: string, options: RestRequest = {}) =>
  createRest(address)('POST', `/backup/restore?file=${file}`, options);

export const PASSWORD = 'correct horse battery staple';
export const newEmail = () => `${randomUUID()}@example.com`;

export type Account = Record<'email' | 'password', string>;

export const newAccount = (): Account => ({ email: newEmail(), password: PASSWORD });

interface RestSession {
  access_token: string;
  user: { id: string };
}

interface RestTask {
  id: string;
  title: string;
  completed: boolean;
  category: string | null;
  due_date: string | null;
}

/** Requests of one user over REST. */
function workOf(url: string, token: string) {
  const rest = createRest(url);
  const list = async () => (await rest<{ data: RestTask[] }>('GET', '/tasks', { token })).body.data;
  return {
    token,
    /** Returns the id of the new task. */
    create: async (title: string, more: object = {}) =>
      (await rest<{ data: RestTask }>('POST', '/tasks', { token, body: { title, ...more } })).body.data.id,
    change: (id: string, body: object) => rest('PATCH', `/tasks/${id}`, { token, body }),
    remove: (id: string) => rest('DELETE', `/tasks/${id}`, { token }),
    list,
    titles: async () => (await list()).map(({ title }) => title),
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
  const query = '{ tasks { changesCursor } }';
  const { data } = await createGraphql(url)<{ tasks: { changesCursor: string } }>(query, { token });
  return data.tasks.changesCursor;
}
