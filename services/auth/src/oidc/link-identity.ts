import type { RequestOrigin } from '@taskmesh/internal-api';
import type { Account } from '../accounts/account.entity.ts';
import { emailKey } from '../accounts/email-key.ts';
import type { LinkedIdentity } from './linked-identity.entity.ts';
import { addressIsMissing, addressIsNotVerified } from './oidc.errors.ts';
import type { OidcTransaction } from './oidc.repository.ts';
import type { SignInCode } from './sign-in-code.entity.ts';

/** The address that the provider vouches for. @throws AppError FORBIDDEN */
export function verifiedEmail({ email, emailVerified }: Pick<SignInCode, 'email' | 'emailVerified'>): string {
  if (!email) throw addressIsMissing();
  if (!emailVerified) throw addressIsNotVerified();
  return email;
}

export const isSameAddress = (left: string, right: string) => emailKey(left) === emailKey(right);

export interface Link {
  id: string;
  code: SignInCode;
  account: Pick<Account, 'id' | 'email'>;
  sessionId?: string;
  now: Date;
  origin: RequestOrigin;
}

/** Uses up the code. The caller's transaction has locked the code and the account. */
export function addLink(transaction: OidcTransaction, link: Link): LinkedIdentity {
  const { id, code, account, sessionId, now, origin } = link;
  const { issuer, subject } = code;
  const email = verifiedEmail(code);
  transaction.removeCode(code);
  transaction.record({
    kind: 'identity.linked',
    at: now,
    accountId: account.id,
    ...(sessionId && { sessionId }),
    origin,
  });
  return transaction.addLinked({ id, accountId: account.id, issuer, subject, email, createdAt: now, lastUsedAt: now });
}

/** Queues the mail that tells the account's address. */
export function addNotice(
  transaction: OidcTransaction,
  kind: 'identity.linked' | 'identity.unlinked',
  { id, account, now, origin }: Pick<Link, 'id' | 'account' | 'now' | 'origin'>,
): void {
  transaction.addMail({ id, accountId: account.id, kind, recipient: account.email, at: now, origin });
}
