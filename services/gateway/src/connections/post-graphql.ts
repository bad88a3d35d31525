import { unavailable } from '@taskmesh/contracts';
import { parseExactJson } from '@taskmesh/federation';
import type { Post, ServicePool } from '@taskmesh/internal-api';
import { isAbsent, isObject } from '@taskmesh/service';
import type { SubgraphResult } from '@taskmesh/subgraph';
import { bodyOf, type ServiceRequest } from './connections.ts';

export interface GraphQLPost extends Omit<Post, 'body'> {
  request: ServiceRequest;
  /** Services of ours answer with 200 whatever the result is; anything else is no answer. */
  okOnly: boolean;
}

/** @throws AppError SERVICE_UNAVAILABLE for anything but a GraphQL answer in time */
export async function postGraphQL(
  pool: ServicePool,
  { request, okOnly, ...post }: GraphQLPost,
): Promise<SubgraphResult> {
  const { status, text } = await pool.post({ ...post, body: bodyOf(request) });
  // A byte order mark is no part of the text (RFC 8259, 8.1).
  const result = parse(text.startsWith('\uFEFF') ? text.slice(1) : text, okOnly);
  if (isResult(result) && (status === 200 || !okOnly)) return result;
  throw unavailable(undefined, new Error(`The service answered ${status} without a GraphQL result.`));
}

/** Our own services send no integers beyond 2^53. Undefined when the text is not JSON. */
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
  return isAbsent(path) || (Array.isArray(path) && path.every((step) => ['string', 'number'].includes(typeof step)));
}
