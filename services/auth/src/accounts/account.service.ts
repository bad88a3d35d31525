import type { Clock, Ids } from '@taskmesh/service';
import { parseInput, signUpInput } from '@taskmesh/contracts';
import type { Limits } from '../rate-limits.ts';
import { isCurrent } from '../passwords/argon2-hash.ts';
import { isPartlyVerified } from '../passwords/bcrypt-hash.ts';
import type { Attempt, Hasher } from '../passwords/hasher.ts';
import type { PasswordRules } from '../passwords/password-rules.ts';
import type { SessionMaker } from '../sessions/new-session.ts';
import type { OpenedSession, Opening } from '../sessions/opened-session.ts';
import type { Account } from './account.entity.ts';
import type { AccountRepository, StoredAccount } from './account.repository.ts';
import { emailIsTaken } from './account.errors.ts';

/** A user who has shown the right password; `passwordVersion` identifies that password. */
export type Authenticated = StoredAccount;

/** What somebody shows who logs in. */
export interface Credentials extends Attempt {
  email: string;
  password: string;
}

export interface AccountService {
  /** Opens an account and its first session. @throws AppError BAD_USER_INPUT, RATE_LIMITED, CONFLICT */
  signUp(input: unknown, options: Opening): Promise<OpenedSession>;
  /** Undefined for an unknown address and for a wrong password alike, after the same time. */
  checkPassword(credentials: Credentials): Promise<Authenticated | undefined>;
  /** For use after a login with this password: hashes it again if its hash has other parameters than new ones. */
  upgradeHash(who: Authenticated, password: string, ip: string | null): Promise<void>;
  find(id: string): Promise<Account | null>;
}

export interface AccountServiceDeps {
  accounts: AccountRepository;
  sessions: SessionMaker;
  hasher: Hasher;
  rules: PasswordRules;
  limits: Limits;
  clock: Clock;
  ids: Ids;
}

export function createAccountService(deps: AccountServiceDeps): AccountService {
  const { accounts, sessions, hasher, rules, limits, clock, ids } = deps;
  const signUp = signUpBy(rules);
  return {
    async signUp(input, { withRefreshToken, origin }) {
      const { email, password, name } = parseInput(signUp, input);
      await limits.countSignUp(origin.ip);
      if (await accounts.findByEmail(email)) throw emailIsTaken(); // before the costly part; the index decides
      const passwordHash = await hasher.hash(password, origin.ip);
      const account = { id: ids.next(), email, name, emailConfirmedAt: new Date(clock.now()) };
      const session = await sessions.prepare(account, { withRefreshToken });
      if (!(await accounts.insert({ account, passwordHash, session, origin }))) throw emailIsTaken();
      return session.opened;
    },
    async checkPassword({ email, password, ...attempt }) {
      const stored = await accounts.findByEmail(email);
      return (await hasher.verify(stored?.passwordHash, password, attempt)) ? stored : undefined;
    },
    async upgradeHash({ account, passwordHash }, password, ip) {
      if (isCurrent(passwordHash) || isPartlyVerified(passwordHash, password)) return;
      await accounts.replaceHash(account.id, { from: passwordHash, to: await hasher.hash(password, ip) });
    },
    find: accounts.find,
  };
}

/** Reports all problems of a sign-up at once, with those by the rules for passwords. */
function signUpBy(rules: Pick<PasswordRules, 'problemOf'>) {
  return signUpInput.superRefine(({ email, password }, context) => {
    if (context.issues.some(({ path }) => path?.includes('password'))) return;
    const message = rules.problemOf(password, email);
    if (message) context.addIssue({ code: 'custom', path: ['password'], message });
  });
}
