import { badUserInput, loginInput, parseInput, signUpInput } from '@taskmesh/contracts';
import { emailIsTaken, wrongCredentials } from '../auth.errors.ts';
import type { CommonParts } from '../common-parts.ts';
import { isPartlyVerified, type Attempt } from '../passwords/hasher.ts';
import type { PasswordRules } from '../passwords/password-rules.ts';
import type { OpenedSession, Opening, SessionMaker } from '../sessions/new-session.ts';
import type { SessionService } from '../sessions/session.service.ts';
import type { Account } from './account.entity.ts';
import type { OwnEntry, StoredAccount } from './account.repository.ts';
import { emailKey } from './email-key.ts';
import { failedLogin } from './password-check.service.ts';

const MAX_ENTRIES = 1_000;
/** A bigint in the database. */
const ENTRY_ID = /^-?\d{1,18}$/;

/** What somebody shows who logs in. */
export interface Credentials extends Attempt {
  email: string;
  password: string;
}

/** Whose credentials these are; undefined when no one's. */
export type Authenticate = (credentials: Credentials) => Promise<StoredAccount | undefined>;

export interface AccountService {
  /** Opens an account and its first session. @throws AppError BAD_USER_INPUT, RATE_LIMITED, CONFLICT */
  signUp(input: unknown, options: Opening): Promise<OpenedSession>;
  /** @throws AppError BAD_USER_INPUT, RATE_LIMITED, UNAUTHENTICATED, SERVICE_UNAVAILABLE */
  login(input: unknown, options: Opening): Promise<OpenedSession>;
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
  const newAccountInput = signUpBy(rules);

  /** Undefined for an unknown address and for a wrong password alike, after the same time. */
  const authenticate = deps.strategyOf(async ({ email, password, ...attempt }) => {
    const stored = await accounts.findByEmail(email);
    return (await hasher.verify(stored?.passwordHash, password, attempt)) ? stored : undefined;
  });

  /** After a login with this password: hashes it again if its hash has other parameters than new ones. */
  const upgradeHash = async ({ account, passwordHash }: StoredAccount, password: string, ip: string | null) => {
    if (hasher.isCurrent(passwordHash) || isPartlyVerified(passwordHash, password)) return;
    await accounts.replaceHash(account.id, { from: passwordHash, to: await hasher.hash(password, ip) });
  };

  return {
    async signUp(input, { withRefreshToken, origin }) {
      const { email, password, name } = parseInput(newAccountInput, input);
      await limits.countSignUp(origin.ip);
      if (await accounts.findByEmail(email)) throw emailIsTaken(); // before the costly part; the index decides
      const passwordHash = await hasher.hash(password, origin.ip);
      const account = { id: ids.next(), email, name, emailConfirmedAt: new Date(clock.now()) };
      const session = await maker.prepare(account, { withRefreshToken });
      if (!(await accounts.insert({ account, passwordHash, session, origin }))) throw emailIsTaken();
      return session.opened;
    },
    async login(input, { withRefreshToken, origin }) {
      const { email, password } = parseInput(loginInput, input);
      const key = emailKey(email) ?? '';
      await limits.countLogin(key, origin.ip);
      const countFailure = failedLogin(deps, key, origin);
      const who = await authenticate({ email, password, ip: origin.ip, onMismatch: countFailure });
      // Checked again, so that parallel attempts learn nothing once the last allowed one has failed.
      if (who) await limits.checkLogin(key, origin.ip);
      const opened = who && (await sessions.open(who.account, { ...who, withRefreshToken, origin }));
      if (!opened) {
        await countFailure();
        throw wrongCredentials();
      }
      await upgradeHash(who, password, origin.ip).catch((error: unknown) =>
        log.warn({ err: error, accountId: who.account.id }, 'a password could not be hashed again'),
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

/** Reports all problems of a sign-up at once, with those by the rules for passwords. */
function signUpBy(rules: Pick<PasswordRules, 'problemOf'>) {
  return signUpInput.superRefine(({ email, password }, context) => {
    if (context.issues.some(({ path }) => path?.includes('password'))) return;
    const message = rules.problemOf(password, email);
    if (message) context.addIssue({ code: 'custom', path: ['password'], message });
  });
}
