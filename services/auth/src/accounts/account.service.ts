import { badUserInput, loginInput, parseInput, signUpInput } from '@taskmesh/contracts';
import { emailTaken, wrongCredentials } from '../auth.errors.ts';
import type { CommonParts } from '../common-parts.ts';
import { isPartlyVerified, type Attempt } from '../passwords/hasher.ts';
import type { PasswordRules } from '../passwords/password-rules.ts';
import type { OpenedSession, SessionIssueOptions, SessionMaker } from '../sessions/new-session.ts';
import type { SessionService } from '../sessions/session.service.ts';
import type { Account } from './account.entity.ts';
import type { OwnEntry, StoredAccount } from './account.repository.ts';
import { emailKey } from './email-key.ts';
import { loginAttempt } from './password-check.service.ts';

const MAX_ENTRIES = 1_000;
/** Ids are bigints in the database. */
const ENTRY_ID = /^-?\d{1,18}$/;

/** The credentials of a login attempt. */
export interface Credentials extends Attempt {
  email: string;
  password: string;
}

/** Returns the account that the credentials belong to; undefined if they are wrong. */
export type Authenticate = (credentials: Credentials) => Promise<StoredAccount | undefined>;

export interface AccountService {
  /** Opens an account and its first session. @throws AppError BAD_USER_INPUT, RATE_LIMITED, CONFLICT */
  signUp(input: unknown, options: SessionIssueOptions): Promise<OpenedSession>;
  /** @throws AppError BAD_USER_INPUT, RATE_LIMITED, UNAUTHENTICATED, SERVICE_UNAVAILABLE */
  login(input: unknown, options: SessionIssueOptions): Promise<OpenedSession>;
  find(id: string): Promise<Account | null>;
  /** The entries of the account's audit trail, newest first. @throws AppError BAD_USER_INPUT */
  listEntries(id: string, page: { first: number; after: string | null }): Promise<OwnEntry[]>;
}

export interface AccountServiceDeps extends CommonParts {
  maker: SessionMaker;
  sessions: SessionService;
  /** Wraps the check of credentials. */
  strategyOf: (check: Authenticate) => Authenticate;
}

export function createAccountService(deps: AccountServiceDeps): AccountService {
  const { accounts, maker, sessions, hasher, rules, limits, clock, ids, log } = deps;
  const newAccountInput = signUpSchema(rules);

  /** Returns undefined for an unknown address or a wrong password. Both take the same time. */
  const authenticate = deps.strategyOf(async ({ email, password, ...attempt }) => {
    const stored = await accounts.findByEmail(email);
    return (await hasher.verify(stored?.passwordHash, password, attempt)) ? stored : undefined;
  });

  /** Rehashes the password after a login if its hash does not have the current parameters. */
  const upgradeHash = async ({ account, passwordHash }: StoredAccount, password: string, ip: string | null) => {
    if (hasher.isCurrent(passwordHash) || isPartlyVerified(passwordHash, password)) return;
    await accounts.replaceHash(account.id, { from: passwordHash, to: await hasher.hash(password, ip) });
  };

  return {
    async signUp(input, { withRefreshToken, origin }) {
      const { email, password, name } = parseInput(newAccountInput, input);
      await limits.countSignUp(origin.ip);
      if (await accounts.findByEmail(email)) throw emailTaken(); // avoids the costly hash; the unique index decides
      const passwordHash = await hasher.hash(password, origin.ip);
      const account = { id: ids.next(), email, name, emailConfirmedAt: new Date(clock.now()) };
      const session = await maker.prepare(account, { withRefreshToken });
      if (!(await accounts.insert({ account, passwordHash, session, origin }))) throw emailTaken();
      return session.opened;
    },
    async login(input, { withRefreshToken, origin }) {
      const { email, password } = parseInput(loginInput, input);
      const key = emailKey(email) ?? '';
      await limits.countLogin(key, origin.ip);
      const attempt = loginAttempt(deps, key, origin);
      const stored = await authenticate({ email, password, ...attempt });
      const opened = stored && (await sessions.open(stored.account, { ...stored, withRefreshToken, origin }));
      if (!opened) {
        await attempt.onMismatch();
        throw wrongCredentials();
      }
      // Not awaited: the session is open, and the caller must learn of it in time.
      upgradeHash(stored, password, origin.ip).catch((error: unknown) =>
        log.warn({ err: error, accountId: stored.account.id }, 'a password could not be hashed again'),
      );
      return opened;
    },
    find: async (id) => (await accounts.findById(id))?.account ?? null,
    async listEntries(id, { first, after }) {
      if (first < 1 || first > MAX_ENTRIES)
        throw badUserInput([{ path: 'first', message: `first must be a whole number from 1 to ${MAX_ENTRIES}.` }]);
      if (after !== null && !ENTRY_ID.test(after))
        throw badUserInput([{ path: 'after', message: 'after must be the id of an entry.' }]);
      return accounts.listEntries(id, first, after);
    },
  };
}

/** Reports all problems of a sign-up at once, including violations of the password rules. */
function signUpSchema(rules: Pick<PasswordRules, 'problemOf'>) {
  return signUpInput.superRefine(({ email, password }, context) => {
    if (context.issues.some(({ path }) => path?.includes('password'))) return;
    const message = rules.problemOf(password, email);
    if (message) context.addIssue({ code: 'custom', path: ['password'], message });
  });
}
