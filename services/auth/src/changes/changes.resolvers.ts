import { requireSession, requireUser } from '@taskmesh/internal-api';
import { originOf } from '../graphql/context.ts';
import type { FeatureResolvers } from '../graphql/feature-resolvers.ts';
import { tellEnded } from '../graphql/session-extensions.ts';
import type { EmailChangeService } from './email-change.service.ts';
import type { PasswordChangeService } from './password-change.service.ts';
import type { ProfileService } from './profile.service.ts';

export interface ChangesResolversDeps {
  profiles: ProfileService;
  passwords: PasswordChangeService;
  emails: EmailChangeService;
}

export function createChangesResolvers({ profiles, passwords, emails }: ChangesResolversDeps) {
  return {
    Mutation: {
      changeName: (_parent, { name }, context) =>
        profiles.changeName(requireUser(context.identity), name, originOf(context)),
      changePassword: async (_parent, { input }, context) => {
        tellEnded(context, await passwords.change(requireSession(context.identity), input, originOf(context)));
        return true;
      },
      requestEmailChange: async (_parent, { input }, context) => {
        await emails.request(requireSession(context.identity), input, originOf(context));
        return true;
      },
      confirmEmailChange: async (_parent, input, context) => {
        const { identity } = context;
        // The password decides by itself, whoever is signed in and with whatever.
        const user = identity.role === 'user' && !input.password ? requireSession(identity) : undefined;
        await emails.confirm(user, input, originOf(context));
        return true;
      },
    },
  } satisfies FeatureResolvers;
}
