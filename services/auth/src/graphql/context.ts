import type { EndedSession, RequestOrigin, SubgraphContext } from '@taskmesh/internal-api';
import type { GraphQLResolveInfo } from 'graphql';
import type { OpenedSession } from '../sessions/new-session.ts';
import { selects } from './selection.ts';
import type { MutationResolvers, QueryResolvers, Resolvers } from './types.generated.ts';

export function originOf({ identity, requestId }: SubgraphContext): RequestOrigin {
  const { ip, client } = identity.role === 'service' ? {} : identity;
  return { ip: ip ?? null, client: client ?? null, requestId };
}

/** How a mutation opens a session. */
export function openingOf(context: SubgraphContext, info: GraphQLResolveInfo) {
  return { withRefreshToken: selects(info, 'refreshToken'), origin: originOf(context) };
}

/** Tells the gateway as whom the rest of the operation runs, and which sessions made room for this one. */
export function tellOpened(context: SubgraphContext, session: OpenedSession): OpenedSession {
  context.extensions.session = { userId: session.account.id, sessionId: session.sessionId };
  tellEnded(context, session.ended);
  return session;
}

/** Tells the gateway at once, ahead of its next poll, beside what else the operation has ended. */
export function tellEnded({ extensions }: SubgraphContext, sessions: EndedSession[]): void {
  const earlier = (extensions.endedSessions ?? []) as EndedSession[];
  if (sessions.length > 0) extensions.endedSessions = [...earlier, ...sessions];
}

export type FeatureResolvers = Omit<Resolvers, 'Query' | 'Mutation'> & {
  Query?: Partial<QueryResolvers>;
  Mutation?: Partial<MutationResolvers>;
};
