import { createLoginStrategy } from '../passport.ts';
import type { RecoveryService } from '../recovery/recovery.service.ts';
import type { SessionMaker } from '../sessions/new-session.ts';
import type { SessionService } from '../sessions/session.service.ts';
import type { CommonParts } from '../common-parts.ts';
import { createAccountService } from './account.service.ts';
import { createAccountsResolvers } from './accounts.resolvers.ts';
import { createLoginService } from './login.service.ts';

export interface AccountsDeps {
  maker: SessionMaker;
  sessions: SessionService;
  recovery: RecoveryService;
}

/** Signing up and in, and what people do without being signed in. */
export function createAccounts(common: CommonParts, { maker, sessions, recovery }: AccountsDeps) {
  const accounts = createAccountService({ ...common, sessions: maker });
  const authenticate = createLoginStrategy(accounts.checkPassword);
  const logins = createLoginService({ ...common, sessions, authenticate, upgradeHash: accounts.upgradeHash });
  return { resolvers: createAccountsResolvers({ accounts, logins, sessions, recovery }) };
}
