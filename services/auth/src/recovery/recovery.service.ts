import { LockMode, type EntityManager } from '@mikro-orm/core';
import { whileAway, type Database } from '@taskmesh/database';
import type { EndedSession } from '@taskmesh/internal-api';
import type { Clock } from '@taskmesh/service';
import { forgotPasswordInput, parseInput, resetPasswordInput } from '@taskmesh/validation';
import { AccountEntity } from '../accounts/account.entity.ts';
import { emailKey } from '../accounts/email-key.ts';
import { recordFact } from '../audit/audit.ts';
import type { RequestOrigin } from '../audit/request-origin.ts';
import type { Ids } from '../ids.ts';
import type { Limits } from '../limits/limits.ts';
import { hashOf } from '../opaque-token.ts';
import type { Hasher } from '../passwords/hasher.ts';
import type { PasswordRules } from '../passwords/password-rules.ts';
import { endSessions } from '../sessions/end-sessions.ts';
import { SessionEntity } from '../sessions/session.entity.ts';
import { resetTokenUnusable } from './recovery.errors.ts';
import { REQUEST_RECOVERY } from './recovery.statements.ts';
import { ResetTokenEntity } from './reset-token.entity.ts';

export interface RecoveryService {
  /**
   * Puts a mail into the outbox, whether there is such an account or not: who asks cannot tell from the answer or its time.
   * @throws AppError BAD_USER_INPUT for what is no address, RATE_LIMITED
   */
  request(email: string, origin: RequestOrigin): Promise<void>;
  /**
   * Sets the password and ends all sessions of the account; a refused password does not spend the token.
   * @throws AppError BAD_USER_INPUT
   */
  reset(input: unknown, origin: RequestOrigin): Promise<EndedSession[]>;
}

export interface RecoveryServiceOptions {
  database: Database;
  hasher: Hasher;
  rules: PasswordRules;
  limits: Limits;
  clock: Clock;
  ids: Ids;
  /** Tells the worker that there is a mail to send. */
  onRequested: () => void;
}

export function createRecoveryService(options: RecoveryServiceOptions): RecoveryService {
  const { database, hasher, rules, limits, clock, ids, onRequested } = options;

  const accountOfToken = (hash: string) =>
    whileAway({ kind: 'read' }, async () => {
      const em = database.em();
      const token = await em.findOne(ResetTokenEntity, { hash, expiresAt: { $gt: new Date(clock.now()) } });
      return token && em.findOne(AccountEntity, token.accountId);
    });

  return {
    async request(address, { ip, requestId }) {
      const { email } = parseInput(forgotPasswordInput, { email: address });
      const key = emailKey(email) ?? email;
      await limits.countRecovery(ip);
      if (!(await limits.allowRecoveryMail(key))) return;
      await database.run('write', REQUEST_RECOVERY, [ids.next(), key, ip, requestId, new Date(clock.now())]);
      onRequested();
    },
    async reset(input, origin) {
      const { token, newPassword } = parseInput(resetPasswordInput, input);
      rules.check(newPassword, 'newPassword');
      const hash = hashOf(token);
      const account = await accountOfToken(hash);
      if (!account) throw resetTokenUnusable();
      rules.checkAgainst(newPassword, 'newPassword', account.email);
      const passwordHash = await hasher.hash(newPassword);
      const set = { hash, accountId: account.id, passwordHash, now: new Date(clock.now()), origin };
      const ended = await whileAway({ kind: 'write' }, () => database.em().transactional((em) => setPassword(em, set)));
      await limits.forgetFailedLogins(emailKey(account.email) ?? '', origin.ip);
      return ended;
    },
  };
}

interface NewPassword {
  /** Of the token. */
  hash: string;
  accountId: string;
  passwordHash: string;
  now: Date;
  origin: RequestOrigin;
}

/** The account's lock comes first: of two resets one finds the token gone, and no login opens a session meanwhile. */
async function setPassword(em: EntityManager, { hash, accountId, passwordHash, now, origin }: NewPassword) {
  const account = await em.findOne(AccountEntity, accountId, { lockMode: LockMode.PESSIMISTIC_WRITE });
  const token = await em.findOne(ResetTokenEntity, { hash, accountId, expiresAt: { $gt: now } });
  if (!account || !token) throw resetTokenUnusable();
  account.passwordHash = passwordHash;
  account.passwordVersion++;
  account.updatedAt = now;
  await em.nativeDelete(ResetTokenEntity, { accountId });
  recordFact(em, { kind: 'password.reset', at: now, accountId, origin });
  await em.flush();
  const sessions = await em.find(
    SessionEntity,
    { accountId, endedAt: null },
    { lockMode: LockMode.PESSIMISTIC_WRITE, orderBy: { id: 'asc' } },
  );
  return endSessions(em, sessions, now);
}
