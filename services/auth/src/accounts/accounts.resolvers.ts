import { requireSession, requireUser, type EndedSession } from '@taskmesh/internal-api';
import { openingOf, originOf, tellEnded, tellOpened, type FeatureResolvers } from '../graphql/context.ts';
import type { RecoveryService } from '../recovery/recovery.service.ts';
import type { SessionService } from '../sessions/session.service.ts';
import type { AccountService } from './account.service.ts';
import { accountIsGone } from '../auth.errors.ts';

export interface AccountsResolversDeps {
  accounts: AccountService;
  sessions: SessionService;
  recovery: RecoveryService;
}

export function createAccountsResolvers(deps: AccountsResolversDeps) {
  const { accounts, sessions, recovery } = deps;

  const accountOf = async (id: string) => {
    const account = await accounts.find(id);
    if (!account) throw accountIsGone();
    return account;
  };

  return {
    Query: {
      me: async (_parent, _args, { identity }) => accountOf(requireUser(identity).userId),
    },
    Mutation: {
      signUp: async (_parent, { input }, context, info) =>
        tellOpened(context, await accounts.signUp(input, openingOf(context, info))),
      login: async (_parent, { input }, context, info) =>
        tellOpened(context, await accounts.login(input, openingOf(context, info))),
      refreshSession: async (_parent, { refreshToken }, context, info) => {
        const { isCancelled } = context;
        const onReuse = (sessionsEnded: EndedSession[]) => tellEnded(context, sessionsEnded);
        const options = { ...openingOf(context, info), isCancelled, onReuse };
        return tellOpened(context, await sessions.refresh(refreshToken, options));
      },
      logout: async (_parent, _args, context) => {
        tellEnded(context, await sessions.end(requireSession(context.identity), originOf(context)));
        return true;
      },
      requestPasswordReset: async (_parent, { email }, context) => {
        await recovery.request(email, originOf(context));
        return true;
      },
      resetPassword: async (_parent, { input }, context) => {
        tellEnded(context, await recovery.reset(input, originOf(context)));
        return true;
      },
    },
    Session: {
      refreshToken: ({ refreshToken }) => {
        if (refreshToken === undefined) throw new Error('No refresh token was made, though the operation selects it.');
        return refreshToken;
      },
      user: ({ account }) => account,
    },
    User: {
      // Clients see only their own account; any other looks like none.
      __resolveReference: ({ id }, { identity }) =>
        identity.role === 'user' && identity.userId === id ? accountOf(id) : null,
      emailConfirmedAt: ({ emailConfirmedAt }) => emailConfirmedAt.toISOString(),
    },
  } satisfies FeatureResolvers;
}
