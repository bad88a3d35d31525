import type { EndedSession } from '@taskmesh/internal-api';
import { requireUser } from '@taskmesh/subgraph';
import type { GraphQLResolveInfo } from 'graphql';
import { originOf, type AuthContext } from '../graphql/context.ts';
import { selects } from '../graphql/selection.ts';
import type { MutationResolvers, Resolvers } from '../graphql/types.generated.ts';
import { watchMutations } from '../graphql/watch-mutations.ts';
import type { RecoveryService } from '../recovery/recovery.service.ts';
import type { OpenedSession } from '../sessions/opened-session.ts';
import type { SessionService } from '../sessions/session.service.ts';
import type { AccountService } from './account.service.ts';
import { accountIsGone } from './accounts.errors.ts';
import type { LoginService } from './login.service.ts';

export interface AccountsResolversDeps {
  accounts: AccountService;
  logins: LoginService;
  sessions: SessionService;
  recovery: RecoveryService;
  /** Told how each mutation went: `ok` or the error's code. */
  onMutation: (name: string, outcome: string) => void;
}

export function createAccountsResolvers(deps: AccountsResolversDeps): Resolvers {
  const { accounts, logins, sessions, recovery, onMutation } = deps;
  const mutations: MutationResolvers = {
    signUp: async (_parent, { input }, context, info) =>
      given(context, await accounts.signUp(input, openingOf(context, info))),
    login: async (_parent, { input }, context, info) =>
      given(context, await logins.login(input, openingOf(context, info))),
    refreshSession: async (_parent, { refreshToken }, context, info) => {
      const onReuse = (sessionsEnded: EndedSession[]) => ended(context, sessionsEnded);
      return given(context, await sessions.refresh(refreshToken, { ...openingOf(context, info), onReuse }));
    },
    logout: async (_parent, _args, context) => {
      ended(context, await sessions.end(requireUser(context.identity), originOf(context)));
      return true;
    },
    requestPasswordReset: async (_parent, { email }, context) => {
      await recovery.request(email, originOf(context));
      return true;
    },
    resetPassword: async (_parent, { input }, context) => {
      ended(context, await recovery.reset(input, originOf(context)));
      return true;
    },
  };

  return {
    Query: {
      me: async (_parent, _args, { identity }) => {
        const account = await accounts.find(requireUser(identity).userId);
        if (!account) throw accountIsGone();
        return account;
      },
    },
    Mutation: watchMutations(mutations, onMutation),
    Session: {
      refreshToken: ({ refreshToken }) => {
        if (refreshToken === undefined) throw new Error('No refresh token was made, though the operation selects it.');
        return refreshToken;
      },
      user: ({ account }) => account,
    },
    User: {
      // Clients see only themselves: somebody else's account looks like none.
      __resolveReference: ({ id }, { identity }) =>
        identity.role === 'user' && identity.userId === id ? accounts.find(id) : null,
      emailConfirmedAt: ({ emailConfirmedAt }) => emailConfirmedAt.toISOString(),
    },
  };
}

function openingOf(context: AuthContext, info: GraphQLResolveInfo) {
  return { withRefreshToken: selects(info, 'refreshToken'), origin: originOf(context) };
}

/** Tells the gateway as whom the rest of the operation runs. */
function given({ extensions }: AuthContext, session: OpenedSession): OpenedSession {
  extensions.session = { userId: session.account.id, sessionId: session.sessionId };
  return session;
}

/** Tells the gateway, so that it need not wait until it asks. */
function ended({ extensions }: AuthContext, sessions: EndedSession[]): void {
  if (sessions.length > 0) extensions.endedSessions = sessions;
}
