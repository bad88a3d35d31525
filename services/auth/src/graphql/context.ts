import type { RequestOrigin, SubgraphContext } from '@taskmesh/internal-api';
import type { GraphQLResolveInfo } from 'graphql';
import { selects } from './selection.ts';

export function originOf({ identity, requestId }: SubgraphContext): RequestOrigin {
  const { ip, client } = identity.role === 'service' ? {} : identity;
  return { ip: ip ?? null, client: client ?? null, requestId };
}

/** How a mutation opens a session. */
export function openingOf(context: SubgraphContext, info: GraphQLResolveInfo) {
  return { withRefreshToken: selects(info, 'refreshToken'), origin: originOf(context) };
}
