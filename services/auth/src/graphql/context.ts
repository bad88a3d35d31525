import type { SubgraphContext } from '@taskmesh/subgraph';
import type { RequestOrigin } from '../audit/request-origin.ts';

export type AuthContext = SubgraphContext;

export function originOf({ identity, requestId }: AuthContext): RequestOrigin {
  return { ip: ('ip' in identity ? identity.ip : undefined) ?? null, requestId };
}
