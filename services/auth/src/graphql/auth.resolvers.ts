import {
  requireSession,
  requireUser,
  type EndedSession,
  type RequestOrigin,
  type SubgraphContext,
} from '@taskmesh/internal-api';
import { selects } from '@taskmesh/subgraph';
import type { GraphQLResolveInfo } from 'graphql';
import type { AccountService } from '../accounts/account.service.ts';
import { accountDeleted } from '../auth.errors.ts';
import type { ChangeService } from '../changes/change.service.ts';
import type { LinkedIdentityService } from '../oidc/linked-identity.service.ts';
import type { ProviderSignInService } from '../oidc/provider-sign-in.service.ts';
import type { PersonalTokenService } from '../personal-tokens/personal-token.service.ts';
import type { RecoveryService } from '../recovery/recovery.service.ts';
import type { OpenedSession } from '../sessions/new-session.ts';
import type { SessionService } from '../sessions/session.service.ts';
import type { MutationResolvers, Resolvers } from './types.generated.ts';

export interface AuthResolversDeps {
  accounts: AccountService;
  changes: ChangeService;
  identities: LinkedIdentityService;
  /** The sign-in provider's name for users; undefined when there is none. */
  providerName: string | undefined;
  recovery: RecoveryService;
  sessions: SessionService;
  signIns: ProviderSignInService;
  tokens: PersonalTokenService;
}

/** Maps the GraphQL schema to the services. */
export function createAuthResolvers(deps: AuthResolversDeps): Resolvers {
  const { accounts, changes, identities, providerName, recovery, sessions, signIns, tokens } = deps;

  const accountOf = async (id: string) => {
    const account = await accounts.find(id);
    if (!account) throw accountDeleted();
    return account;
  };

  const mutations: MutationResolvers = {
    signUp: async (_parent, { input }, context, info) =>
      reportOpened(context, await accounts.signUp(input, openingOf(context, info))),
    login: async (_parent, { input }, context, info) =>
      reportOpened(context, await accounts.login(input, openingOf(context, info))),
    signInWithCode: async (_parent, { input }, context, info) =>
      reportOpened(context, await signIns.signIn(input, openingOf(context, info))),
    refreshSession: async (_parent, { refreshToken }, context, info) => {
      const { isCancelled } = context;
      const onReuse = (ended: EndedSession[]) => reportEnded(context, ended);
      const options = { ...openingOf(context, info), isCancelled, onReuse };
      return reportOpened(context, await sessions.refresh(refreshToken, options));
    },
    logout: async (_parent, _args, context) =>
      reportEnded(context, await sessions.end(requireSession(context.identity), originOf(context))),
    endSession: async (_parent, { id }, context) => {
      const session = await sessions.endOne(requireSession(context.identity), id, originOf(context));
      reportEnded(context, session.ended);
      return session.id;
    },
    endOtherSessions: async (_parent, _args, context) => {
      const { count, ended } = await sessions.endOthers(requireSession(context.identity), originOf(context));
      reportEnded(context, ended);
      return count;
    },
    requestPasswordReset: async (_parent, { email }, context) => {
      await recovery.request(email, originOf(context));
      return true;
    },
    resetPassword: async (_parent, { input }, context) =>
      reportEnded(context, await recovery.reset(input, originOf(context))),
    changeName: (_parent, { name }, context) =>
      changes.changeName(requireUser(context.identity), name, originOf(context)),
    changePassword: async (_parent, { input }, context) =>
      reportEnded(context, await changes.changePassword(requireSession(context.identity), input, originOf(context))),
    requestEmailChange: async (_parent, { input }, context) => {
      await changes.requestEmail(requireSession(context.identity), input, originOf(context));
      return true;
    },
    confirmEmailChange: async (_parent, input, context) => {
      const { identity } = context;
      // A password is sufficient proof, no matter who is signed in and how.
      const user = identity.role === 'user' && !input.password ? requireSession(identity) : undefined;
      await changes.confirmEmail(user, input, originOf(context));
      return true;
    },
    deleteAccount: async (_parent, { input }, context) =>
      reportEnded(context, await changes.deleteAccount(requireSession(context.identity), input, originOf(context))),
    linkIdentity: (_parent, { input }, context) =>
      identities.link(requireSession(context.identity), input, originOf(context)),
    unlinkIdentity: (_parent, { id }, context) =>
      identities.unlink(requireSession(context.identity), id, originOf(context)),
    createPersonalToken: (_parent, { input }, context) => {
      const user = requireSession(context.identity);
      return tokens.create(user, { ...input, scope: input.scope.toLowerCase() }, originOf(context));
    },
    endPersonalToken: async (_parent, { id }, context) => {
      const token = await tokens.end(requireSession(context.identity), id, originOf(context));
      reportEnded(context, token.ended);
      return token.id;
    },
  };

  return {
    Query: {
      me: async (_parent, _args, { identity }) => accountOf(requireUser(identity).userId),
      auditEntries: (_parent, { first, after }, { identity }) =>
        accounts.listEntries(requireUser(identity).userId, { first: first ?? 100, after: after ?? null }),
      sessions: (_parent, _args, { identity }) => sessions.list(requireUser(identity)),
      personalTokens: (_parent, _args, { identity }) => tokens.list(requireUser(identity).userId),
      signInProvider: () => (providerName === undefined ? null : { name: providerName }),
      linkedIdentities: (_parent, _args, { identity }) => identities.list(requireUser(identity).userId),
    },
    Mutation: mutations,
    Session: {
      refreshToken: ({ refreshToken }) => {
        if (refreshToken === undefined) throw new Error('No refresh token was made, though the operation selects it.');
        return refreshToken;
      },
      user: ({ account }) => account,
    },
    User: {
      // Clients see only their own account; any other appears not to exist.
      __resolveReference: ({ id }, { identity }) =>
        identity.role === 'user' && identity.userId === id ? accountOf(id) : null,
      emailConfirmedAt: ({ emailConfirmedAt }) => emailConfirmedAt.toISOString(),
    },
  };
}

function originOf({ identity, requestId }: SubgraphContext): RequestOrigin {
  const { ip, client } = identity.role === 'service' ? {} : identity;
  return { ip: ip ?? null, client: client ?? null, requestId };
}

/** The options with which a mutation opens a session. */
function openingOf(context: SubgraphContext, info: GraphQLResolveInfo) {
  return { withRefreshToken: selects(info, 'refreshToken'), origin: originOf(context) };
}

/** Reports to the gateway the user for the rest of the operation, and the sessions that ended to make room for this one. */
function reportOpened(context: SubgraphContext, session: OpenedSession): OpenedSession {
  context.extensions.session = { userId: session.account.id, sessionId: session.sessionId };
  reportEnded(context, session.ended);
  return session;
}

/** Reports ended sessions to the gateway before its next poll. Adds to those that the operation has ended earlier. */
function reportEnded({ extensions }: SubgraphContext, sessions: EndedSession[]): true {
  const earlier = (extensions.endedSessions ?? []) as EndedSession[];
  if (sessions.length > 0) extensions.endedSessions = [...earlier, ...sessions];
  return true;
}
