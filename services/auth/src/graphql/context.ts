import type { SubgraphContext } from '@taskmesh/subgraph';
import type { RequestOrigin } from '../audit/request-origin.ts';

export type AuthContext = SubgraphContext;

export function originOf({ identity, requestId }: AuthContext): RequestOrigin {
  const { ip, client } = identity.role === 'service' ? {} : identity;
  return { ip: ip ?? null, client: client ?? null, requestId };
}
