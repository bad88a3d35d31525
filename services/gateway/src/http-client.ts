import { unavailable } from '@taskmesh/errors';
import type { Post, ServicePool } from '@taskmesh/internal-api';
import { parseJson } from '@taskmesh/service';
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
  const result = parseJson(text);
  if (isResult(result) && (status === 200 || !okOnly)) return result;
  throw unavailable(undefined, new Error(`The service answered ${status} without a GraphQL result.`));
}

function isResult(value: unknown): value is SubgraphResult {
  return (
    typeof value === 'object' &&
    value !== null &&
    ('data' in value || ('errors' in value && Array.isArray(value.errors)))
  );
}
