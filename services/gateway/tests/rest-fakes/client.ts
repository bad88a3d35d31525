import type { OpenApiDocument } from '../../src/rest/openapi/document.ts';
import { createDocumentCheck, type DocumentCheck } from './document-check.ts';

export interface CallOptions {
  token?: string;
  /** Sent as JSON. */
  json?: unknown;
  /** Sent verbatim, as JSON unless `headers` has another type. */
  raw?: string | Buffer;
  headers?: Record<string, string>;
}

export interface Answered {
  status: number;
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- a test looks wherever it likes, and fails when nothing is there
  body: any;
  text: string;
  headers: Headers;
}

export interface Client {
  call(method: string, path: string, options?: CallOptions): Promise<Answered>;
  /** Creates an account and returns its access token. */
  signUp(): Promise<{ token: string; userId: string; email: string }>;
  check: DocumentCheck;
}

export const PASSWORD = 'a long and winding phrase';
let accounts = 0;

/** Calls a gateway as any client would, and checks each answer against the API description. */
export async function createClient(origin: string): Promise<Client> {
  const description = await fetch(`${origin}/api/openapi.json`);
  const check = createDocumentCheck((await description.json()) as OpenApiDocument);

  const call: Client['call'] = async (method, path, { token, json, raw, headers = {} } = {}) => {
    const body = json === undefined ? raw : JSON.stringify(json);
    const response = await fetch(`${origin}${path}`, {
      method,
      redirect: 'manual',
      headers: {
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
        ...headers,
      },
      ...(body !== undefined && { body: typeof body === 'string' ? body : new Uint8Array(body) }),
    });
    const text = await response.text();
    const answered = { status: response.status, text, headers: response.headers };
    check.check({ method, path, ...answered });
    return { ...answered, body: text === '' ? undefined : JSON.parse(text) };
  };

  const signUp: Client['signUp'] = async () => {
    const email = `person-${++accounts}@example.com`;
    const { body } = await call('POST', '/api/auth/signup', { json: { email, password: PASSWORD, name: 'Person' } });
    return { token: body.access_token, userId: body.user.id, email };
  };

  return { call, signUp, check };
}
