import type { RequestOrigin } from '@taskmesh/internal-api';
import type { Clock } from '@taskmesh/service';
import type { Limits } from '../rate-limits.ts';
import type { Hasher } from '../passwords/hasher.ts';
import type { AccountRepository, StoredAccount } from './account.repository.ts';
import { accountDeleted, passwordNotSet, wrongPassword } from '../auth.errors.ts';
import { emailKey } from './email-key.ts';

export interface PasswordCheckService {
  /**
   * Verifies the password of a signed-in user and returns the account. A wrong password counts as a failed login. `path` is the name
   * of the client's field.
   * @throws AppError BAD_USER_INPUT for a wrong password, CONFLICT if the account has none, RATE_LIMITED, SERVICE_UNAVAILABLE
   */
  confirm(userId: string, password: string, path: string, origin: RequestOrigin): Promise<StoredAccount>;
  /**
   * Like `confirm`, for a caller who is not signed in and must learn nothing else about the account: if it has no password, every
   * password is wrong, after the same time. @throws AppError BAD_USER_INPUT, RATE_LIMITED, SERVICE_UNAVAILABLE
   */
  confirmAnonymous(userId: string, password: string, path: string, origin: RequestOrigin): Promise<void>;
}

export interface PasswordCheckServiceDeps {
  accounts: AccountRepository;
  hasher: Hasher;
  limits: Limits;
  clock: Clock;
}

/** The callbacks of an attempt to log in. Only the first call of `onMismatch` has an effect: it records a failed login. */
export function loginAttempt(
  { accounts, limits, clock }: Pick<PasswordCheckServiceDeps, 'accounts' | 'limits' | 'clock'>,
  key: string,
  origin: RequestOrigin,
) {
  const count = async () => {
    await limits.countFailedLogin(key, origin.ip);
    await accounts.recordFailedLogin(key, new Date(clock.now()), origin);
  };
  let counted: Promise<void> | undefined;
  return {
    ip: origin.ip,
    /** Checks again, so that parallel attempts learn nothing once the last allowed one has failed. */
    mayPass() {
      const check = limits.checkLogin(key, origin.ip);
      return check.then(
        () => true,
        () => {
          counted = check;
          return false;
        },
      );
    },
    onMismatch: () => (counted ??= count()),
  };
}

export function createPasswordCheckService(deps: PasswordCheckServiceDeps): PasswordCheckService {
  const { accounts, hasher, limits } = deps;
  const compare = async (
    { account, passwordHash }: StoredAccount,
    { password, path }: { password: string; path: string },
    origin: RequestOrigin,
  ): Promise<void> => {
    const key = emailKey(account.email) ?? '';
    await limits.countLogin(key, origin.ip);
    const attempt = loginAttempt(deps, key, origin);
    if (await hasher.verify(passwordHash, password, attempt)) return;
    await attempt.onMismatch();
    throw wrongPassword(path);
  };

  return {
    async confirm(userId, password, path, origin) {
      const stored = await accounts.findById(userId);
      if (!stored) throw accountDeleted();
      if (!stored.hasPassword) throw passwordNotSet();
      await compare(stored, { password, path }, origin);
      return stored;
    },
    async confirmAnonymous(userId, password, path, origin) {
      const stored = await accounts.findById(userId);
      if (!stored) throw wrongPassword(path);
      await compare(stored, { password, path }, origin);
    },
  };
}
