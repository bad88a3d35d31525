import type { RequestOrigin } from '@taskmesh/internal-api';
import { isUniqueViolation } from '@taskmesh/store';
import { linkIdentityInput, parseInput, parseUuid } from '@taskmesh/contracts';
import {
  lockConfirmed,
  lockOwner,
  type AccountTransaction,
  type SignedIn,
} from '../accounts/account-transaction.repository.ts';
import type { Account } from '../accounts/account.entity.ts';
import type { OwnIdentity } from '../accounts/account.repository.ts';
import { emailKey } from '../accounts/email-key.ts';
import {
  emailDiffers,
  emailNotShared,
  emailNotVerified,
  codeUnusable,
  lastSignInMethod,
  alreadyLinked,
  linkNotFound,
} from '../auth.errors.ts';
import { hashOf } from '../opaque-token.ts';
import type { SignInCode } from './oidc.entities.ts';
import type { CommonParts } from '../common-parts.ts';

/** Returns the address that the provider has verified. @throws AppError FORBIDDEN */
export function verifiedEmail({ email, emailVerified }: Pick<SignInCode, 'email' | 'emailVerified'>): string {
  if (!email) throw emailNotShared();
  if (!emailVerified) throw emailNotVerified();
  return email;
}

const isSameAddress = (one: string, other: string) => emailKey(one) === emailKey(other);

export interface Link {
  id: string;
  code: SignInCode;
  account: Pick<Account, 'id' | 'email'>;
  sessionId?: string;
  now: Date;
  origin: RequestOrigin;
}

/** Uses up the code. The caller's transaction has locked the code and the account. */
export function addLink(transaction: AccountTransaction, link: Link): OwnIdentity {
  const { id, code, account, sessionId, now, origin } = link;
  const { issuer, subject } = code;
  const email = verifiedEmail(code);
  transaction.remove(code);
  transaction.record({
    kind: 'identity.linked',
    at: now,
    accountId: account.id,
    ...(sessionId && { sessionId }),
    origin,
  });
  transaction.addLinked({ id, accountId: account.id, issuer, subject, email, createdAt: now, lastUsedAt: now });
  const time = now.toISOString();
  return { id, issuer, email, createdAt: time, lastUsedAt: time };
}

/** Queues the mail that notifies the account's address. */
export function addNotice(
  transaction: AccountTransaction,
  kind: 'identity.linked' | 'identity.unlinked',
  { id, account, now, origin }: Pick<Link, 'id' | 'account' | 'now' | 'origin'>,
): void {
  transaction.addMail({ id, accountId: account.id, kind, recipient: account.email, at: now, origin });
}

/** Lists, links and unlinks the identities of a signed-in user. */
export interface LinkedIdentityService {
  /** Newest first. */
  list(userId: string): Promise<OwnIdentity[]>;
  /**
   * Requires the account's password, and the verified address must be the account's own: otherwise somebody could keep access to
   * an account whose address they do not own.
   * @throws AppError BAD_USER_INPUT, FORBIDDEN, CONFLICT, RATE_LIMITED, UNAUTHENTICATED when the session has ended meanwhile
   */
  link(user: SignedIn, input: unknown, origin: RequestOrigin): Promise<OwnIdentity>;
  /** @throws AppError NOT_FOUND, CONFLICT for the last way into an account, UNAUTHENTICATED when the session has ended meanwhile */
  unlink(user: SignedIn, id: string, origin: RequestOrigin): Promise<string>;
}

export function createLinkedIdentityService(common: CommonParts): LinkedIdentityService {
  const { inTransaction, accounts, oidc, check, limits, clock, ids } = common;
  const now = () => new Date(clock.now());

  return {
    list: accounts.listIdentities,
    async link(user, input, origin) {
      const { userId, sessionId } = user;
      const { code: token, verifier, password } = parseInput(linkIdentityInput, input);
      await limits.countProviderSignIn(origin.ip);
      const submitted = { hash: hashOf(token), challenge: hashOf(verifier) };
      const found = await oidc.findCode(submitted, now());
      if (!found) throw codeUnusable();
      if (await oidc.findLinked(found)) throw alreadyLinked();
      const email = verifiedEmail(found);
      const known = await check.confirm(userId, password, 'password', origin);
      return inTransaction(async (transaction) => {
        const at = now();
        const code = await transaction.lockCode(submitted, at);
        if (!code) throw codeUnusable();
        const account = await lockConfirmed(transaction, user, known, 'password');
        if (!isSameAddress(email, account.email)) throw emailDiffers();
        const linking = { account, now: at, origin };
        addNotice(transaction, 'identity.linked', { id: ids.next(), ...linking });
        return addLink(transaction, { id: ids.next(), code, sessionId, ...linking });
      }, userId).catch((error: unknown) => {
        throw isUniqueViolation(error, 'linked_identities_issuer_subject_key') ? alreadyLinked() : error;
      });
    },
    async unlink(user, id, origin) {
      const { userId, sessionId } = user;
      const uuid = parseUuid(id);
      await inTransaction(async (transaction) => {
        const account = await lockOwner(transaction, user);
        const all = await transaction.lockLinked(userId);
        const linked = all.find((each) => each.id === uuid);
        if (!linked) throw linkNotFound();
        if (!account.hasPassword && all.length === 1) throw lastSignInMethod();
        const at = now();
        transaction.remove(linked);
        transaction.record({ kind: 'identity.unlinked', at, accountId: userId, sessionId, origin });
        addNotice(transaction, 'identity.unlinked', { id: ids.next(), account, now: at, origin });
      }, userId);
      return uuid ?? id;
    },
  };
}
