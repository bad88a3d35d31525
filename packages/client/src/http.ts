import type { Document } from './document.ts';
import { errorOf, TaskmeshError, toTaskmeshError, type GraphqlError, type InputIssue } from './errors.ts';

export interface PostOptions {
  token?: string | undefined;
  /** W3C trace context. The feed reports the mutation's change with it. */
  traceparent?: string | undefined;
  /** Waits at least this long, even if the client's timeout is shorter. */
  minTimeoutMs?: number | undefined;
}

/** Runs a query or mutation. @throws TaskmeshError with the code of the first GraphQL error, if there is one */
export type Post = <Result, Variables>(
  document: Document<Result, Variables>,
  variables: Variables,
  options?: PostOptions,
) => Promise<Result>;

export interface PostDeps {
  /** The GraphQL endpoint's URL. */
  url: string;
  fetch: typeof fetch;
  timeoutMs: number;
}

interface Parsed<Result> {
  data?: Result | null;
  errors?: GraphqlError[];
}

export function createPost({ url, fetch, timeoutMs }: PostDeps): Post {
  return async <Result, Variables>(
    query: Document<Result, Variables>,
    variables: Variables,
    { token, traceparent, minTimeoutMs = 0 }: PostOptions = {},
  ) => {
    const response = await fetch(url, {
      method: 'POST',
      headers: { ...headersOf(token), ...(traceparent && { traceparent }) },
      body: JSON.stringify({ query, variables }),
      signal: AbortSignal.timeout(Math.max(timeoutMs, minTimeoutMs)),
    }).catch((error: unknown) => {
      throw toTaskmeshError(error);
    });
    const body = await bodyOf<Parsed<Result>>(response);
    if (!body?.data || body.errors?.length) throw failureOf(response, body);
    return body.data;
  };
}

export function headersOf(token: string | undefined): Record<string, string> {
  return { 'content-type': 'application/json', ...(token && { authorization: `Bearer ${token}` }) };
}

/** Converts a response without the expected result to an error. With status 400 or 401, the body says whose error it is. */
export async function readFailure(response: Response): Promise<TaskmeshError> {
  if (response.status !== 400 && response.status !== 401) return refusalOf(response);
  return failureOf(response, await bodyOf<Parsed<unknown>>(response));
}

function failureOf(response: Response, body: Parsed<unknown> | undefined): TaskmeshError {
  return body?.errors?.length ? errorOf(body.errors) : refusalOf(response);
}

async function bodyOf<Body>(response: Response): Promise<Body | undefined> {
  try {
    return (await response.json()) as Body; // the server's own format
  } catch {
    return undefined;
  }
}

/** Converts a failed response of the REST API to an error. */
export async function readRestFailure(response: Response): Promise<TaskmeshError> {
  const body = await bodyOf<{ message?: string; error?: { code?: string; details?: InputIssue[] } }>(response);
  const refusal = refusalOf(response, body?.message);
  const { code = refusal.code, details } = body?.error ?? {};
  return new TaskmeshError(code, refusal.message, { issues: details, retryAfterMs: refusal.retryAfterMs });
}

/** Only these are about the request itself even without a body of the gateway: others are from a proxy, or from a server that failed. */
const OF_REQUEST = new Set([400, 413, 414, 415, 422, 431]);
/** The request did not arrive in time. */
const TIMEOUT = 408;

/** Converts a response without an error code: from a proxy, or from a gateway that currently accepts no requests. */
function refusalOf({ status, headers }: Response, said?: string): TaskmeshError {
  const retryAfterMs = Number(headers.get('retry-after') ?? 0) * 1_000 || 0;
  const message = said ?? `The server responded with ${status}.`;
  if (status === 429) return new TaskmeshError('RATE_LIMITED', message, { retryAfterMs });
  if (status >= 502 || status === TIMEOUT) return new TaskmeshError('SERVICE_UNAVAILABLE', message, { retryAfterMs });
  const isOthers = said === undefined && !OF_REQUEST.has(status);
  const code = status === 401 ? 'UNAUTHENTICATED' : 'INTERNAL_SERVER_ERROR';
  return new TaskmeshError(isOthers ? 'NETWORK' : code, message);
}
