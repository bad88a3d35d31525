import { unavailable } from '@taskmesh/contracts';
import { parseExactJson } from '@taskmesh/federation';
import { createResponseBudget, createServicePool, type PostRequest, type ServicePool } from '@taskmesh/internal-api';
import { activeSpan, inSpan, isAbsent, isObject, type SpanDescription } from '@taskmesh/service';
import type { SubgraphRequest, SubgraphResult } from '@taskmesh/subgraph';
import type { GraphQLFormattedError } from 'graphql';
import { z } from 'zod';
import { REQUEST_TIMEOUT_MS, type RequestOptions } from './connections.ts';

/** Errors taken from one response: a foreign service may send hundreds of thousands. */
const MAX_ERRORS = 100;
const MAX_MESSAGE_CHARS = 1_000;
const MAX_PATH_STEPS = 100;
const MAX_ISSUES = 100;
const MAX_RETRY_AFTER_S = 86_400;

const text = z.string().transform((given) => given.slice(0, MAX_MESSAGE_CHARS));
/** The part of a foreign service's error that clients may see, in the form of our own errors. */
const foreignExtensions = z.object({
  code: z.string().optional().catch(undefined),
  issues: z
    .array(z.object({ path: text, message: text }))
    .max(MAX_ISSUES)
    .optional()
    .catch(undefined),
  retryAfterSeconds: z.int().min(0).max(MAX_RETRY_AFTER_S).optional().catch(undefined),
});

export interface GraphQLPost extends Omit<PostRequest, 'body'> {
  request: SubgraphRequest;
  /** Our own services always respond with 200, and their errors are passed on unchanged. */
  isOurs: boolean;
}

/** @throws AppError SERVICE_UNAVAILABLE unless a GraphQL response arrives in time */
export async function postGraphQL(
  pool: ServicePool,
  { request, isOurs, ...post }: GraphQLPost,
): Promise<SubgraphResult> {
  const { status, text } = await pool.post({ ...post, body: JSON.stringify(request) });
  // A byte order mark is not part of the text (RFC 8259, 8.1).
  const result = parse(text.startsWith('\uFEFF') ? text.slice(1) : text, isOurs);
  if (isResult(result)) {
    if (!isOurs) return { data: result.data, errors: result.errors?.slice(0, MAX_ERRORS).map(foreignError) };
    if (status === 200) return result;
  }
  throw unavailable(undefined, new Error(`The service responded with ${status} and no GraphQL result.`));
}

/** Undefined when the text is not JSON. Our own services send no integers beyond 2^53. */
function parse(text: string, isOurs: boolean): unknown {
  try {
    return isOurs ? JSON.parse(text) : parseExactJson(text);
  } catch {
    return undefined;
  }
}

function isResult(value: unknown): value is SubgraphResult {
  if (!isObject(value) || !('data' in value || 'errors' in value)) return false;
  const { data, errors } = value;
  if (!isAbsent(data) && !isObject(data)) return false;
  return isAbsent(errors) ? 'data' in value : Array.isArray(errors) && errors.every(isError);
}

/** Services that are not ours may send anything; the executor relies on the form of paths. */
function isError(value: unknown): boolean {
  if (!isObject(value)) return false;
  const { path } = value;
  if (isAbsent(path)) return true;
  if (!Array.isArray(path) || path.length > MAX_PATH_STEPS) return false;
  return path.every((step) => ['string', 'number'].includes(typeof step));
}

function foreignError({ message, path, extensions }: GraphQLFormattedError): GraphQLFormattedError {
  return {
    message: text.catch('A service reported an error.').parse(message),
    ...(path && { path }),
    ...(isObject(extensions) && { extensions: foreignExtensions.parse(extensions) }),
  };
}

/** A response is parsed and merged in one step, while all other requests wait. */
const MAX_RESPONSE_BYTES = 8 * 1024 * 1024;
/** For all such responses together, while they arrive. */
const MAX_HELD_BYTES = 64 * 1024 * 1024;
const HEADERS = { 'content-type': 'application/json', accept: 'application/json' };

/** Calls the services of a foreign graph, which receive neither identities nor headers of our clients. */
export function createExternalSubgraphClient() {
  const pools = new Map<string, ServicePool>();
  const budget = createResponseBudget(MAX_HELD_BYTES);

  const poolOf = (origin: string): ServicePool => {
    const pool = pools.get(origin) ?? createServicePool(origin, { maxResponseSize: MAX_RESPONSE_BYTES, budget });
    pools.set(origin, pool);
    return pool;
  };

  const post = (
    url: string,
    graphql: SubgraphRequest,
    options: Omit<RequestOptions, 'call'>,
  ): Promise<SubgraphResult> => {
    const { origin, pathname, search } = new URL(url);
    const { timeoutMs = REQUEST_TIMEOUT_MS, ...more } = options;
    const about = { path: pathname + search, headers: HEADERS, isOurs: false };
    return postGraphQL(poolOf(origin), { ...about, request: graphql, timeoutMs, ...more });
  };

  return {
    request: (service: string, ...asked: Parameters<typeof post>) =>
      inSpan(
        () => fetchSpan(service),
        () => post(...asked),
      ),
    async probe(url: string): Promise<void> {
      await post(url, { query: '{ __typename }' }, { idempotent: true });
    },
    async close(): Promise<void> {
      await Promise.all([...pools.values()].map((pool) => pool.destroy()));
    },
  };
}

/** A request to a service over HTTP. In one process the service's own span is enough, unless the gateway stopped waiting for it. */
export const fetchSpan = (service: string): SpanDescription => ({
  name: `fetch ${service}`,
  kind: 'client',
  attributes: { 'service.peer.name': service },
});

/** Records a span for an in-process call only if it fails: the service's own span may end much later, and without an error. */
export function inFetchSpanIfFailed<Result>(service: string, work: () => Promise<Result>): Promise<Result> {
  const parent = activeSpan();
  if (!parent) return work();
  const startMs = Date.now();
  return work().catch((error: unknown) => {
    parent.child({ ...fetchSpan(service), startMs }).end(error);
    throw error;
  });
}
