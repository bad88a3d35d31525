import type { Document } from './document.ts';
import { errorOf, TaskmeshError, toTaskmeshError, type GraphqlError, type InputIssue } from './errors.ts';

export interface PostOptions {
  token?: string | undefined;
  /** W3C trace context: the change that a mutation makes is told with it. */
  traceparent?: string | undefined;
}

/** Runs a query or a mutation. @throws TaskmeshError, with the code of the first error, if there is any */
export type Post = <Result, Variables>(
  document: Document<Result, Variables>,
  variables: Variables,
  options?: PostOptions,
) => Promise<Result>;

export interface PostDeps {
  /** Of the GraphQL endpoint. */
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
    { token, traceparent }: PostOptions = {},
  ) => {
    const response = await fetch(url, {
      method: 'POST',
      headers: { ...headersOf(token), ...(traceparent && { traceparent }) },
      body: JSON.stringify({ query, variables }),
      signal: AbortSignal.timeout(timeoutMs),
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

/** What an answer says that is not the one that was asked for. What is wrong with a request its body tells alone. */
export async function readFailure(response: Response): Promise<TaskmeshError> {
  return response.status === 400 ? failureOf(response, await bodyOf<Answer<unknown>>(response)) : refusalOf(response);
}

function failureOf(response: Response, answer: Answer<unknown> | undefined): TaskmeshError {
  return answer?.errors?.length ? errorOf(answer.errors) : refusalOf(response);
}

async function bodyOf<Body>(response: Response): Promise<Body | undefined> {
  try {
    return (await response.json()) as Body; // the server's
  } catch {
    return undefined;
  }
}

/** What an answer of the REST API says that is not the one that was asked for. */
export async function readRestFailure(response: Response): Promise<TaskmeshError> {
  const body = await bodyOf<{ message?: string; error?: { code?: string; details?: InputIssue[] } }>(response);
  const refusal = refusalOf(response);
  const { code = refusal.code, details } = body?.error ?? {};
  const { retryAfterMs } = refusal;
  return new TaskmeshError(code, body?.message ?? refusal.message, { issues: details, retryAfterMs });
}

/** An answer that is none of GraphQL: of a proxy in between, or of a gateway that takes nothing at the moment. */
function refusalOf({ status, headers }: Response): TaskmeshError {
  const retryAfterMs = Number(headers.get('retry-after') ?? 0) * 1_000 || 0;
  const message = `The server answered with ${status}.`;
  if (status === 401) return new TaskmeshError('UNAUTHENTICATED', message);
  if (status === 429) return new TaskmeshError('RATE_LIMITED', message, { retryAfterMs });
  if (status >= 502) return new TaskmeshError('SERVICE_UNAVAILABLE', message, { retryAfterMs });
  return new TaskmeshError(status < 400 ? 'NETWORK' : 'INTERNAL_SERVER_ERROR', message);
}
