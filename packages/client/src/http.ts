import type { Document } from './document.ts';
import { errorOf, TaskmeshError, toTaskmeshError, type GraphqlError, type InputIssue } from './errors.ts';

export interface PostOptions {
  token?: string | undefined;
  /** W3C trace context; the feed reports the mutation's change with it. */
  traceparent?: string | undefined;
  /** Waits for at least as long, even if other operations are given up earlier. */
  minTimeoutMs?: number | undefined;
}

/** Runs a query or a mutation. @throws TaskmeshError, with the code of the first error, if there is any */
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

interface Answer<Result> {
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
    const answer = await bodyOf<Answer<Result>>(response);
    if (!answer?.data || answer.errors?.length) throw failureOf(response, answer);
    return answer.data;
  };
}

export function headersOf(token: string | undefined): Record<string, string> {
  return { 'content-type': 'application/json', ...(token && { authorization: `Bearer ${token}` }) };
}

/** The error in a response without the expected result. Only its body reports what was wrong with the request. */
export async function readFailure(response: Response): Promise<TaskmeshError> {
  return response.status === 400 ? failureOf(response, await bodyOf<Answer<unknown>>(response)) : refusalOf(response);
}

function failureOf(response: Response, answer: Answer<unknown> | undefined): TaskmeshError {
  if (answer?.errors?.length) return errorOf(answer.errors);
  // The server says so in a result. A proxy that wants a sign-in of its own says nothing about the session.
  return response.status === 401 ? new TaskmeshError('NETWORK', 'A proxy answered with 401.') : refusalOf(response);
}

async function bodyOf<Body>(response: Response): Promise<Body | undefined> {
  try {
    return (await response.json()) as Body; // the server's
  } catch {
    return undefined;
  }
}

/** The error in a response of the REST API that is not ok. */
export async function readRestFailure(response: Response): Promise<TaskmeshError> {
  const body = await bodyOf<{ message?: string; error?: { code?: string; details?: InputIssue[] } }>(response);
  const refusal = refusalOf(response);
  const { code = refusal.code, details } = body?.error ?? {};
  const { retryAfterMs } = refusal;
  return new TaskmeshError(code, body?.message ?? refusal.message, { issues: details, retryAfterMs });
}

/** The request did not arrive in time. */
const TIMEOUT = 408;

/** A response without GraphQL: from a proxy in between, or from a gateway that accepts nothing at the moment. */
function refusalOf({ status, headers }: Response): TaskmeshError {
  const retryAfterMs = Number(headers.get('retry-after') ?? 0) * 1_000 || 0;
  const message = `The server answered with ${status}.`;
  if (status === 401) return new TaskmeshError('UNAUTHENTICATED', message);
  if (status === 429) return new TaskmeshError('RATE_LIMITED', message, { retryAfterMs });
  if (status >= 502 || status === TIMEOUT) return new TaskmeshError('SERVICE_UNAVAILABLE', message, { retryAfterMs });
  return new TaskmeshError(status < 400 ? 'NETWORK' : 'INTERNAL_SERVER_ERROR', message);
}
