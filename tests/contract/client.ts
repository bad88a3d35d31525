import type { DescriptionCheck } from '@taskmesh/testing/api-description';
import { type GraphqlResponse, newEmail, PASSWORD, type RestResponse, send, type SendOptions } from '../http.ts';

const HANG_MS = 5_000;

/** Returns the bytes of a request with `Connection: close`, which ends the exchange. */
export function rawRequest(line: string, headers: readonly string[], body: string | Buffer = ''): Buffer {
  const head = [`${line} HTTP/1.1`, 'Connection: close', ...headers, '', ''].join('\r\n');
  return Buffer.concat([Buffer.from(head, 'latin1'), Buffer.from(body)]);
}

/** Returns all tasks of an account as text: the list, the statistics, and the total count, which paging does not limit. */
export async function snapshotOf(client: Client, { token }: Account): Promise<string> {
  const [list, stats, reduced] = await Promise.all([
    client.call('GET', '/full/api/tasks', { token }),
    client.call('GET', '/full/api/tasks/stats', { token }),
    client.call('GET', '/reduced/api/tasks?limit=1', { token }),
  ]);
  if (list.status !== 200 || stats.status !== 200 || reduced.status !== 200)
    throw new Error('the account cannot be read any more');
  return [list.text, stats.text, reduced.body.total].join('\n');
}

/** A running product as the contract suite sees it: its address, and the files that an operator can see. */
export interface Platform {
  url: string;
  /** All of its gateways. */
  urls: string[];
  /** Compares responses with `/api/openapi.json`, and records which ones occurred. */
  description: DescriptionCheck;
  /** The base of links in mails. */
  publicUrl: string;
  dataDir: string;
  /** The JWK set that signs access tokens, with the private keys. */
  accessKeysFile: string;
  /** The private key of an internal signer, if services communicate over HTTP. */
  identityKeyFile: string;
}

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

/** The fields of all response bodies. Tests check which of them are present. */
export interface Body<Data = Task> {
  success: boolean;
  message: string;
  count: number;
  total: number;
  page: number;
  data: Data;
  error: { code: string; details?: { path: string; message: string }[] };
  access_token: string;
  refresh_token: string;
  user: { id: string; email: string; email_confirmed_at: string };
}

export type ClientResponse<Content = Body> = RestResponse<Content>;

export type CallOptions = Omit<SendOptions, 'signal'>;

export type Account = Record<'id' | 'email' | 'token', string>;

export type Client = ReturnType<typeof clientOf>;

/** An HTTP client of a platform, without knowledge of its internals, which compares each response with the API description, if there is one. */
export function clientOf(platform: () => Pick<Platform, 'url'> & Partial<Pick<Platform, 'description'>>) {
  /** `path` begins with the prefix of a contract. */
  async function call<Content = Body>(method: string, path: string, options: CallOptions = {}) {
    const { url, description } = platform();
    const response = await send<Content>(method, url + path, { ...options, signal: AbortSignal.timeout(HANG_MS) });
    description?.check({ method, path, ...response });
    return response;
  }

  return {
    call,
    async signUp(email = newEmail()): Promise<Account> {
      const json = { email, password: PASSWORD, name: 'Ada Lovelace' };
      const { status, body } = await call('POST', '/api/auth/signup', { json });
      if (status !== 201) throw new Error(`sign-up failed with ${status}`);
      return { id: body.user.id, email, token: body.access_token };
    },
    logIn: (email: string, password = PASSWORD) => call('POST', '/api/auth/login', { json: { email, password } }),
    graphql: <Data = Record<string, never>>(
      query: string,
      { variables, ...options }: CallOptions & { variables?: object } = {},
    ) => call<GraphqlResponse<Data>>('POST', '/graphql', { ...options, json: { query, variables } }),
  };
}

export const keysOf = (value: object) => Object.keys(value).toSorted();
