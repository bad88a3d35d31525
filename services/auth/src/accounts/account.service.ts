import { whileAway, type Database } from '@taskmesh/database';
import type { Clock } from '@taskmesh/service';
import { parseInput, signUpInput } from '@taskmesh/validation';
import type { RequestOrigin } from '../audit/request-origin.ts';
import type { Ids } from '../ids.ts';
import type { Limits } from '../limits/limits.ts';
import type { Hasher } from '../passwords/hasher.ts';
import type { PasswordRules } from '../passwords/password-rules.ts';
import type { SessionMaker } from '../sessions/new-session.ts';
import type { OpenedSession } from '../sessions/opened-session.ts';
import { AccountEntity, type Account } from './account.entity.ts';
import { emailIsTaken } from './accounts.errors.ts';
import { FIND_ACCOUNT_BY_EMAIL, SIGN_UP } from './accounts.statements.ts';
import { emailKey } from './email-key.ts';

/** Somebody who has shown the right password; `passwordVersion` says which one that was. */
export interface Authenticated {
  account: Account;
  passwordVersion: number;
}

export interface AccountService {
  /** Opens an account and its first session. @throws AppError BAD_USER_INPUT, RATE_LIMITED, CONFLICT */
  signUp(input: unknown, options: { withRefreshToken: boolean; origin: RequestOrigin }): Promise<OpenedSession>;
  /** Undefined for an unknown address and for a wrong password, after the same time. */
  checkPassword(email: string, password: string): Promise<Authenticated | undefined>;
  find(id: string): Promise<Account | null>;
}

export interface AccountServiceOptions {
  database: Database;
  sessions: SessionMaker;
  hasher: Hasher;
  rules: PasswordRules;
  limits: Limits;
  clock: Clock;
  ids: Ids;
}

export function createAccountService(options: AccountServiceOptions): AccountService {
  const { database, sessions, hasher, rules, limits, clock, ids } = options;

  const findByEmail = async (email: string): Promise<AccountRow | undefined> => {
    const key = emailKey(email);
    if (key === undefined) return undefined;
    const [row] = await database.run<AccountRow>('read', FIND_ACCOUNT_BY_EMAIL, [key]);
    return row;
  };

  return {
    async signUp(input, { withRefreshToken, origin }) {
      const { email, password, name } = parseInput(signUpInput, input);
      rules.check(password, 'password');
      rules.checkAgainst(password, 'password', email);
      await limits.countSignUp(origin.ip);
      if (await findByEmail(email)) throw emailIsTaken(); // before the costly part; the index decides
      const passwordHash = await hasher.hash(password);
      const now = new Date(clock.now());
      const account = { id: ids.next(), email, name, emailConfirmedAt: now };
      const { opened, values } = await sessions.prepare(account, { withRefreshToken });
      const row = [...values(origin, 'account.created'), email, emailKey(email), name, passwordHash, now];
      await database.run('write', SIGN_UP, row).catch((error: unknown) => {
        throw isTaken(error) ? emailIsTaken() : error;
      });
      return opened;
    },
    async checkPassword(email, password) {
      const row = await findByEmail(email);
      const matches = await hasher.verify(row?.password_hash, password);
      return row && matches ? { account: accountOf(row), passwordVersion: row.password_version } : undefined;
    },
    find: (id) => whileAway({ kind: 'read' }, () => database.em().findOne(AccountEntity, id)),
  };
}

interface AccountRow {
  id: string;
  email: string;
  name: string;
  password_hash: string;
  password_version: number;
  /** A numeric, which comes as text. */
  confirmed_ms: string;
}

function accountOf({ id, email, name, confirmed_ms }: AccountRow): Account {
  return { id, email, name, emailConfirmedAt: new Date(Number(confirmed_ms)) };
}

const UNIQUE_VIOLATION = '23505';

function isTaken(error: unknown): boolean {
  return (
    error instanceof Error &&
    'code' in error &&
    error.code === UNIQUE_VIOLATION &&
    'constraint' in error &&
    error.constraint === 'accounts_email_key_unique'
  );
}
