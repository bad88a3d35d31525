import type { Clock, Log } from '@taskmesh/service';
import { loginInput, parseInput } from '@taskmesh/contracts';
import type { Limits } from '../rate-limits.ts';
import type { OpenedSession, Opening } from '../sessions/opened-session.ts';
import type { SessionService } from '../sessions/session.service.ts';
import type { AccountRepository } from './account.repository.ts';
import type { Authenticated, Credentials } from './account.service.ts';
import { wrongCredentials } from './account.errors.ts';
import { emailKey } from './email-key.ts';
import { failedLogin } from './password-check.service.ts';

export interface LoginService {
  /** @throws AppError BAD_USER_INPUT, RATE_LIMITED, UNAUTHENTICATED, SERVICE_UNAVAILABLE */
  login(input: unknown, options: Opening): Promise<OpenedSession>;
}

export interface LoginServiceDeps {
  accounts: AccountRepository;
  sessions: SessionService;
  limits: Limits;
  clock: Clock;
  authenticate(credentials: Credentials): Promise<Authenticated | undefined>;
  /** Hashes the password again if its stored hash is outdated. */
  upgradeHash(who: Authenticated, password: string, ip: string | null): Promise<void>;
  log: Log;
}

export function createLoginService(deps: LoginServiceDeps): LoginService {
  const { sessions, limits, authenticate, upgradeHash, log } = deps;

  return {
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
        log.warn({ err: error, accountId: who.account.id }, 'a password could not be hashed anew'),
      );
      return opened;
    },
  };
}
